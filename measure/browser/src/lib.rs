//! A headless Chromium, driven over its DevTools protocol.
//!
//! The protocol runs over a pipe: JSON messages that end with a zero byte. A pipe needs no library,
//! and no port to which another process could connect.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// The longest wait for a message. The start of a browser on a busy machine takes the longest.
const PATIENCE: Duration = Duration::from_secs(120);

/// One browser with one page.
pub struct Chromium {
    child: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    session: Option<String>,
    calls: u64,
    profile: PathBuf,
    /// Errors and warnings: those that the page wrote to the console, and those that the browser
    /// logged.
    pub complaints: Vec<String>,
    /// The addresses of all requests, that of the page included.
    pub requests: Vec<String>,
}

impl Chromium {
    /// Opens the page in `file`. The variable `CHROMIUM` names the program, if it is not
    /// `chromium`.
    pub fn open(file: &Path) -> Chromium {
        let profile = file.with_extension("profile");
        let program = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
        // Chromium expects the pipe at descriptors 3 and 4. A shell can put it there without unsafe
        // code.
        let mut child = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null 2>&1"#])
            .arg(program)
            .args(["--headless", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu"])
            // Chromium refuses to run as root with its sandbox, and containers may have a small
            // /dev/shm.
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
        // Not the event `load`: it may arrive before the reply to `Page.navigate`.
        chromium.eval(
            "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', done))",
        );
        chromium
    }

    /// Sends a command and returns its result.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.commands.write_all(&bytes).expect("Chromium reads its commands");
        loop {
            let mut reply = self.receive();
            if reply["id"] == self.calls {
                assert!(reply["error"].is_null(), "{method}: {reply}");
                return reply["result"].take();
            }
        }
    }

    /// Evaluates an expression and awaits its value. An exception ends the test.
    pub fn eval(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let mut outcome = self.call("Runtime.evaluate", params);
        assert!(outcome["exceptionDetails"].is_null(), "{expression}: {outcome}");
        outcome["result"]["value"].take()
    }

    /// Presses and releases the mouse in the middle of the first element that `selector` finds.
    pub fn click(&mut self, selector: &str) {
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

    /// Waits until all changes so far are drawn.
    pub fn settle(&mut self) {
        self.eval("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    }

    /// Returns the printed page.
    pub fn pdf(&mut self) -> Vec<u8> {
        let pdf = self.call("Page.printToPDF", json!({"printBackground": false}));
        BASE64_STANDARD.decode(pdf["data"].as_str().unwrap()).unwrap()
    }

    /// Returns an image of the whole page.
    pub fn screenshot(&mut self) -> Vec<u8> {
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
        // The shell has become the browser, and the browser ends its other processes with itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
