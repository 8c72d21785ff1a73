import http.client, sys
for i in range(int(sys.argv[1])):
    c = http.client.HTTPConnection("127.0.0.1", 8080, timeout=20); c.request("GET", "/"); print("R", c.getresponse().read().decode().strip()); c.close()
