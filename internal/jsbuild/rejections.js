// Finds promises of a test that were rejected while nothing waited for them. The JavaScript engine reports no
// unhandled rejections, so this file replaces Promise and its method `then` before the test and its libraries load. The
// build compiles async functions to functions that use Promise, so the engine itself creates no promise of a test.
(() => {
  const NativePromise = Promise;
  const nativeThen = Promise.prototype.then;
  const handled = new WeakSet();
  let rejected = [];
  let isTracking = false;

  // Observes a rejection of `promise` without counting as a handler of the rejection.
  function track(promise) {
    isTracking = true; // the promise that nativeThen creates is not a promise of the test
    nativeThen.call(promise, undefined, (error) => {
      rejected.push({ promise, error });
    });
    isTracking = false;
  }
  Object.defineProperty(NativePromise.prototype, 'then', {
    value: function then(onFulfilled, onRejected) {
      handled.add(this);
      return nativeThen.call(this, onFulfilled, onRejected);
    },
    writable: true,
    configurable: true,
  });
  const TrackedPromise = new Proxy(NativePromise, {
    construct(target, args, newTarget) {
      const promise = Reflect.construct(target, args, newTarget);
      if (!isTracking) track(promise);
      return promise;
    },
  });
  // The methods of Promise and of its prototype create promises with these two constructors.
  globalThis.Promise = TrackedPromise;
  Object.defineProperty(NativePromise.prototype, 'constructor', {
    value: TrackedPromise,
    writable: true,
    configurable: true,
  });
  // Returns the errors of rejected promises without a handler, and deletes them from the list.
  Object.defineProperty(globalThis, '__opentabsUnhandled', {
    value: () => {
      const errors = rejected.filter(({ promise }) => !handled.has(promise)).map(({ error }) => error);
      rejected = [];
      return errors;
    },
  });
})();
