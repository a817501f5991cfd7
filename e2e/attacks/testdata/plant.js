// Adds getters, setters and values to the shared prototypes, so that objects which inherit them leak their content or change.
(() => {
  const { apply, defineProperty, getOwnPropertyDescriptor, ownKeys } = Reflect;
  const indexOf = String.prototype.indexOf, send = fetch.bind(window), text = JSON.stringify;
  const own = Object.prototype.hasOwnProperty;
  let busy = false;
  const has = (value, depth) => {
    if (typeof value === 'string') return apply(indexOf, value, ['SECRET']) >= 0;
    if (depth > 4 || value === null || (typeof value !== 'object' && typeof value !== 'function') || value === window) return false;
    for (const key of ownKeys(value)) {
      const found = getOwnPropertyDescriptor(value, key);
      if (found && apply(own, found, ['value']) && has(found.value, depth + 1)) return true;
    }
    return false;
  };
  const look = (how, value) => {
    if (busy) return;
    busy = true;
    if (has(value, 0)) send('/note', { method: 'POST', body: text(['saw', how]) });
    busy = false;
  };
  const plant = (on, label, key, value) =>
    defineProperty(on, key, {
      __proto__: null,
      configurable: true,
      get() {
        look('get ' + label, this);
        return value;
      },
      set(given) {
        look('set ' + label, given);
        look('set on ' + label, this);
        defineProperty(this, key, { __proto__: null, value: given, writable: true, enumerable: true, configurable: true });
      },
    });
  const forged = { limit: 666, mail: 'FORGED', 0: { name: 'FORGED', mail: 'FORGED' }, 1: 'FORGED', kind: 'FORGED', to: ['FORGED'] };
  for (const key of ownKeys(forged)) for (const on of [Object.prototype, Array.prototype]) plant(on, key, key, forged[key]);
  const asked = ['then', 'toJSON', 'message', 'progress', 'total', 'percent', 'audience', 'signal', 'code', 'category', 'retryable', 'retryAfterMs', 'cause', 'success', 'data', 'error', 'issues', 'name', 'stack', 'key', 'token', 'q', 'catchall', 'check', 'transform', 'list', 'more', 'echoed', 'cached', 'query'];
  for (const key of asked) {
    for (const on of [Object.prototype, Array.prototype, Error.prototype, Date.prototype]) {
      if (!getOwnPropertyDescriptor(on, key)) plant(on, key, key, undefined);
    }
  }
  const { then } = Promise.prototype;
  const promise = (how, self) => apply(then, self, [(value) => look(how, value), (error) => look(how + ' rejected', error && error.message)]);
  defineProperty(Promise.prototype, 'constructor', {
    __proto__: null,
    configurable: true,
    get() {
      if (!busy) {
        busy = true;
        promise('Promise.prototype.constructor', this);
        busy = false;
      }
      return Promise;
    },
  });
  Promise.prototype.then = function (ok, bad) {
    promise('Promise.prototype.then', this);
    return apply(then, this, [ok, bad]);
  };
  Date.prototype.toJSON = Date.prototype.toISOString = () => 'FORGED';
  BigInt.prototype.toJSON = () => 'FORGED';
  Error.prepareStackTrace = (error) => {
    look('Error.prepareStackTrace', error.message);
    return 'FORGED';
  };
  addEventListener('unhandledrejection', (event) => look('unhandledrejection', event.reason && event.reason.message));
  for (const name of ['log', 'info', 'warn', 'error']) console[name] = (...values) => look('console.' + name, values);
  document.documentElement.setAttribute('data-planted', 'yes');
})();
