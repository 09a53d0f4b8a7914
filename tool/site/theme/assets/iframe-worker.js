// Search runs in a worker, and browsers start none for a page that is opened from a folder.
// There a hidden frame stands for it, and what it is sent and sends are events.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      const load = (each) => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, {src: each, onload: done, onerror: failed});
        inside.document.body.append(script);
      });
      inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", {data: structuredClone(data)}));
      // A worker's returns when all is loaded; this one has to be waited for.
      inside.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => load(each)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(
        new MessageEvent("message", {data: structuredClone(data)})));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
