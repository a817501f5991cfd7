// Finds promises of a test that were rejected while nothing waited for them. The JavaScript engine reports no
// unhandled rejections, so `then` of promises is replaced before the test and its libraries load.
(() => {
  const nativeThen = Promise.prototype.then;
  const handled = new WeakSet();
  let rejected = [];

  // Records a rejection of `promise` without counting as its handler.
  function track(promise) {
    nativeThen.call(promise, undefined, (error) => {
      rejected.push({ promise, error });
    });
    return promise;
  }
  Object.defineProperty(Promise.prototype, 'then', {
    value: function then(onFulfilled, onRejected) {
      handled.add(this);
      return track(nativeThen.call(this, onFulfilled, onRejected));
    },
    writable: true,
    configurable: true,
  });
  const nativeReject = Promise.reject;
  Object.defineProperty(Promise, 'reject', {
    value: function reject(error) {
      return track(nativeReject.call(this, error));
    },
    writable: true,
    configurable: true,
  });
  // The promises of async functions pass through here (internal/jsbuild/simulate.go).
  Object.defineProperty(globalThis, '__opentabsTrack', { value: track });
  // Returns the errors of the promises that nothing waits for, and forgets them.
  Object.defineProperty(globalThis, '__opentabsUnhandled', {
    value: () => {
      const errors = rejected.filter(({ promise }) => !handled.has(promise)).map(({ error }) => error);
      rejected = [];
      return errors;
    },
  });
})();
