// Adds getters, setters and values to the shared prototypes, so that objects that inherit these properties leak or
// change their data.
(() => {
  const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const indexOf = String.prototype.indexOf, send = fetch.bind(window), text = JSON.stringify;
  const hasOwnProperty = Object.prototype.hasOwnProperty;
  let isReporting = false;
  const hasSecret = (value, depth) => {
    if (typeof value === 'string') return apply(indexOf, value, ['SECRET']) >= 0;
    if (depth > 4 || value === null || (typeof value !== 'object' && typeof value !== 'function') || value === window) return false;
    for (const key of ownKeys(value)) {
      const found = getOwnPropertyDescriptor(value, key);
      if (found && apply(hasOwnProperty, found, ['value']) && hasSecret(found.value, depth + 1)) return true;
    }
    return false;
  };
  const reportSecret = (how, value) => {
    if (isReporting) return;
    isReporting = true;
    if (hasSecret(value, 0)) send('/note', { method: 'POST', body: text(['saw', how]) });
    isReporting = false;
  };
  const plantProperty = (on, label, key, value) =>
    defineProperty(on, key, {
      __proto__: null,
      configurable: true,
      get() {
        reportSecret('get ' + label, this);
        return value;
      },
      set(given) {
        reportSecret('set ' + label, given);
        reportSecret('set on ' + label, this);
        defineProperty(this, key, { __proto__: null, value: given, writable: true, enumerable: true, configurable: true });
      },
    });
  const forged = { limit: 666, mail: 'FORGED', 0: { name: 'FORGED', mail: 'FORGED' }, 1: 'FORGED', kind: 'FORGED', to: ['FORGED'] };
  for (const key of ownKeys(forged)) for (const on of [Object.prototype, Array.prototype]) plantProperty(on, key, key, forged[key]);
  const plantedKeys = ['then', 'toJSON', 'message', 'progress', 'total', 'percent', 'audience', 'signal', 'code', 'category', 'retryable', 'retryAfterMs', 'cause', 'success', 'data', 'error', 'issues', 'name', 'stack', 'key', 'token', 'q', 'catchall', 'check', 'transform', 'list', 'more', 'echoed', 'cached', 'query'];
  for (const key of plantedKeys) {
    for (const on of [Object.prototype, Array.prototype, Error.prototype, Date.prototype]) {
      if (!getOwnPropertyDescriptor(on, key)) plantProperty(on, key, key, undefined);
    }
  }
  const { then } = Promise.prototype;
  const observePromise = (how, self) => apply(then, self, [(value) => reportSecret(how, value), (error) => reportSecret(how + ' rejected', error && error.message)]);
  defineProperty(Promise.prototype, 'constructor', {
    __proto__: null,
    configurable: true,
    get() {
      if (!isReporting) {
        isReporting = true;
        observePromise('Promise.prototype.constructor', this);
        isReporting = false;
      }
      return Promise;
    },
  });
  Promise.prototype.then = function (ok, bad) {
    observePromise('Promise.prototype.then', this);
    return apply(then, this, [ok, bad]);
  };
  Date.prototype.toJSON = Date.prototype.toISOString = () => 'FORGED';
  BigInt.prototype.toJSON = () => 'FORGED';
  Error.prepareStackTrace = (error) => {
    reportSecret('Error.prepareStackTrace', error.message);
    return 'FORGED';
  };
  addEventListener('unhandledrejection', (event) => reportSecret('unhandledrejection', event.reason && event.reason.message));
  for (const name of ['log', 'info', 'warn', 'error']) console[name] = (...values) => reportSecret('console.' + name, values);
  document.documentElement.setAttribute('data-planted', 'yes');
})();
