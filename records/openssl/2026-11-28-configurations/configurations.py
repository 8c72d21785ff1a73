import re,subprocess,os
src=open('fronts/cli/tests/openssl_conf.rs').read()
block=src[src.index('const WRITTEN'):]; block=block[:block.index('];')]
items=[eval('"'+m+'"') for m in re.findall(r'"((?:[^"\\]|\\.)*)"', re.sub(r'\\u\{(\w+)\}', lambda m:'\\u%04x'%int(m[1],16), block))]
good="openssl_conf = oi\n[oi]\nproviders = p\n%s\n[p]\ndefault = d\n[d]\nactivate = 1\n"
H='target/debug/headwater'; bad=[];ours=refused=0
rows=[]
for it in items:
    row=[]
    for text in (good%it, (good%"")+it+"\n", it+"\n"+(good%"")):
        open('cc.cnf','w').write(text); e=dict(os.environ,OPENSSL_CONF=os.path.abspath('cc.cnf'),XDG_STATE_HOME=os.path.abspath('state'))
        p=subprocess.run([os.path.abspath(H),'run','--openssl','--stats','--','openssl','rand','-hex','4'],env=e,capture_output=True,text=True)
        if p.returncode==125: refused+=1; row.append('refused')
        elif p.returncode==0 and '1 draw (4 B)' in p.stderr: ours+=1; row.append('headwater')
        else: row.append('ELSE'); bad.append((it,p.returncode,p.stderr[-200:]))
    rows.append((it,row))
print('| line | in the section | last | first |\n| --- | --- | --- | --- |')
for it,row in rows: print('| `'+it.replace('\n','\\n').replace('\t','\\t').replace('|','\\|')+'` |',' | '.join(row),'|')
print(len(items),'oddities,',ours,'drew from headwater,',refused,'refused,',len(bad),'else'); print(*bad,sep='\n')
