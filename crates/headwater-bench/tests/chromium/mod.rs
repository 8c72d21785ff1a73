//! A Chromium without a window, driven over its DevTools protocol by a pipe: JSON messages that end with a
//! zero byte. That takes no library, and no port that anybody else could connect to.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// A busy machine's start of a browser included.
const PATIENCE: Duration = Duration::from_secs(120);

/// One browser with one page.
pub(crate) struct Chromium {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    profile: PathBuf,
    /// What the page wrote to the console as an error or a warning, and what the browser held against it.
    pub(crate) complaints: Vec<String>,
    /// Everything that the page asked for, itself included.
    pub(crate) requests: Vec<String>,
}

impl Chromium {
    /// Opens the page that lies in `file`. `CHROMIUM` names the program, if it is not `chromium`.
    pub(crate) fn open(file: &Path) -> Chromium {
        let profile = file.with_extension("profile");
        let program = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
        // The pipe is expected at 3 and 4, where a shell can put it.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            // It refuses to run as root otherwise, and small containers have a small /dev/shm.
            .args(["--no-sandbox", "--disable-dev-shm-usage"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let commands = child.stdin.take().unwrap();
        let mut from = BufReader::new(child.stdout.take().unwrap());
        let (to, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while from.read_until(0, &mut bytes).is_ok_and(|n| n > 0) {
                bytes.pop();
                if to.send(serde_json::from_slice(&bytes).unwrap()).is_err() {
                    return;
                }
                bytes.clear();
            }
        });
        let mut chromium = Chromium {
            child,
            commands,
            messages,
            session: None,
            calls: 0,
            profile,
            complaints: Vec::new(),
            requests: Vec::new(),
        };
        let target = chromium.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = chromium.call(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        chromium.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Runtime", "Log", "Network", "Page"] {
            chromium.call(&format!("{domain}.enable"), json!({}));
        }
        chromium.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        // Not its event, which may have come before the reply.
        chromium.eval(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))",
        );
        chromium
    }

    /// Sends a command and waits for its result.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).expect("Chromium is there to be told");
        loop {
            let mut reply = self.receive();
            if reply["id"] == self.calls {
                assert!(reply["error"].is_null(), "{method}: {reply}");
                return reply["result"].take();
            }
        }
    }

    /// The value of an expression, awaited; an exception ends the test.
    pub(crate) fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut outcome = self.call("Runtime.evaluate", params);
        assert!(outcome["exceptionDetails"].is_null(), "{expression}: {outcome}");
        outcome["result"]["value"].take()
    }

    /// Presses and releases the mouse in the middle of the first element that `selector` finds.
    pub(crate) fn click(&mut self, selector: &str) {
        let at = self.eval(&format!(
            "(() => {{ const element = document.querySelector({selector:?});
               element.scrollIntoView({{block: 'center'}});
               const box = element.getBoundingClientRect();
               return {{x: box.x + box.width / 2, y: box.y + box.height / 2}}; }})()"
        ));
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let params = json!({
                "type": kind, "x": at["x"], "y": at["y"], "button": "left", "clickCount": 1
            });
            self.call("Input.dispatchMouseEvent", params);
        }
        self.settle();
    }

    /// Waits until what was asked for has been drawn.
    pub(crate) fn settle(&mut self) {
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// The page as it is printed.
    pub(crate) fn pdf(&mut self) -> Vec<u8> {
        let pdf = self.call("Page.printToPDF", json!({"printBackground": false}));
        BASE64_STANDARD.decode(pdf["data"].as_str().unwrap()).unwrap()
    }

    /// All of the page as an image.
    pub(crate) fn screenshot(&mut self) -> Vec<u8> {
        let png = self.call("Page.captureScreenshot", json!({"captureBeyondViewport": true}));
        BASE64_STANDARD.decode(png["data"].as_str().unwrap()).unwrap()
    }

    fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(PATIENCE).expect("Chromium answers");
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.consoleAPICalled")
                if ["error", "warning", "assert"].map(Value::from).contains(&params["type"]) =>
            {
                self.complaints.push(params["args"].to_string());
            }
            Some("Runtime.exceptionThrown") => self.complaints.push(params.to_string()),
            Some("Log.entryAdded") => self.complaints.push(params["entry"]["text"].to_string()),
            Some("Network.requestWillBeSent") => {
                self.requests.push(params["request"]["url"].as_str().unwrap().to_owned());
            }
            _ => {}
        }
        message
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The shell has become the browser, which takes its other processes with it.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
