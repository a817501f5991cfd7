// What the existing tool chain puts around a plugin: it registers the plugin in
// globalThis.__openTabs, tells hooks of calls and navigations, and sends logs
// and readiness to the page's window as messages.

const shared = () => globalThis.__openTabs;

/** install registers plugin under name, in the place of an older version of it. */
export function install(name, plugin) {
  open();
  const logs = makeLogs(name);
  const { _setLogTransport } = shared();
  const restore = _setLogTransport?.(logs.add);
  shared()._notifyReadinessChanged = () => {
    const nonce = shared()._readinessNonce;
    if (nonce) window.postMessage({ type: 'opentabs:readiness-changed', plugin: name, nonce }, '*');
  };
  const before = shared().adapters[name];
  if (before) {
    attempt(() => before.teardown());
    open(name);
  }
  for (const tool of plugin.tools) wrap(name, plugin, tool, logs);
  shared().adapters[name] = plugin;
  attempt(() => plugin.onActivate?.());
  const unlisten = plugin.onNavigate ? listen(name, (url) => attempt(() => plugin.onNavigate(url))) : undefined;
  const { onDeactivate, teardown } = plugin;
  plugin.teardown = () => {
    attempt(() => onDeactivate?.call(plugin));
    unlisten?.();
    logs.flush();
    restore?.();
    teardown?.call(plugin);
  };
  delete plugin.onDeactivate;
}

function attempt(work) {
  try {
    work();
  } catch (error) {
    console.warn('[OpenTabs]', error);
  }
}

/** open makes a registry that can be written to, without the entry of name: an adapter before may have locked it. */
function open(name) {
  globalThis.__openTabs ??= {};
  const adapters = Object.getOwnPropertyDescriptor(shared(), 'adapters');
  if (!adapters) {
    shared().adapters = {};
    return;
  }
  if (adapters.writable && name === undefined) return;
  const entries = Object.getOwnPropertyDescriptors(adapters.value);
  delete entries[name];
  globalThis.__openTabs = { ...shared(), adapters: Object.defineProperties({}, entries) };
}

function wrap(name, plugin, tool, logs) {
  const { handle } = tool;
  tool.handle = async function (...args) {
    globalThis.__openTabs._pluginName = name;
    attempt(() => plugin.onToolInvocationStart?.(tool.name));
    const began = performance.now();
    let success = false;
    try {
      const result = await handle.apply(this, args);
      success = true;
      return result;
    } finally {
      attempt(() => plugin.onToolInvocationEnd?.(tool.name, success, performance.now() - began));
      logs.flush();
    }
  };
}

function makeLogs(plugin) {
  let entries = [];
  const flush = () => {
    if (entries.length === 0) return;
    const nonce = shared()?._logNonce ?? '';
    window.postMessage({ type: 'opentabs:plugin-logs', plugin, entries, nonce }, '*');
    entries = [];
  };
  const add = (entry) => {
    if (entries.length === 0) setTimeout(flush, 100);
    entries.push(entry);
    if (entries.length >= 50) flush();
  };
  return { add, flush };
}

/** listen calls fn for each new address; all adapters that find the same container share two patched methods. */
function listen(name, fn) {
  let at = location.href;
  const look = () => {
    if (location.href === at) return;
    at = location.href;
    fn(at);
  };
  const interceptor = shared()._navigationInterceptor ?? patch();
  interceptor.callbacks.set(name, look);
  addEventListener('popstate', look);
  addEventListener('hashchange', look);
  return () => {
    removeEventListener('popstate', look);
    removeEventListener('hashchange', look);
    interceptor.callbacks.delete(name);
    if (interceptor.callbacks.size > 0) return;
    history.pushState = interceptor.origPushState;
    history.replaceState = interceptor.origReplaceState;
    delete shared()._navigationInterceptor;
  };
}

function patch() {
  const origPushState = history.pushState.bind(history);
  const origReplaceState = history.replaceState.bind(history);
  const made = { callbacks: new Map(), origPushState, origReplaceState };
  const around = (method) =>
    (...args) => {
      method(...args);
      for (const callback of made.callbacks.values()) callback();
    };
  history.pushState = around(made.origPushState);
  history.replaceState = around(made.origReplaceState);
  shared()._navigationInterceptor = made;
  return made;
}
