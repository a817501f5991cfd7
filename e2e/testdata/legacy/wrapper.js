// The code that the build of the original OpenTabs SDK adds to a plugin. The code registers the plugin in
// globalThis.__openTabs, runs the hooks for calls and navigations, and posts logs and readiness to the page's window.

const getContainer = () => globalThis.__openTabs;

/** install registers plugin under name, and replaces an older version of the plugin. */
export function install(name, plugin) {
  openRegistry();
  const logs = makeLogs(name);
  const { _setLogTransport } = getContainer();
  const restoreTransport = _setLogTransport?.(logs.add);
  getContainer()._notifyReadinessChanged = () => {
    const nonce = getContainer()._readinessNonce;
    if (nonce) window.postMessage({ type: 'opentabs:readiness-changed', plugin: name, nonce }, '*');
  };
  const earlierVersion = getContainer().adapters[name];
  if (earlierVersion) {
    runSafely(() => earlierVersion.teardown());
    openRegistry(name);
  }
  for (const tool of plugin.tools) wrapTool(name, plugin, tool, logs);
  getContainer().adapters[name] = plugin;
  runSafely(() => plugin.onActivate?.());
  const stopWatching = plugin.onNavigate ? watchNavigation(name, (url) => runSafely(() => plugin.onNavigate(url))) : undefined;
  const { onDeactivate, teardown } = plugin;
  plugin.teardown = () => {
    runSafely(() => onDeactivate?.call(plugin));
    stopWatching?.();
    logs.flush();
    restoreTransport?.();
    teardown?.call(plugin);
  };
  delete plugin.onDeactivate;
}

function runSafely(work) {
  try {
    work();
  } catch (error) {
    console.warn('[OpenTabs]', error);
  }
}

/**
 * openRegistry creates a writable registry without the entry of name, because an earlier adapter may have made the
 * registry read-only.
 */
function openRegistry(name) {
  globalThis.__openTabs ??= {};
  const adapters = Object.getOwnPropertyDescriptor(getContainer(), 'adapters');
  if (!adapters) {
    getContainer().adapters = {};
    return;
  }
  if (adapters.writable && name === undefined) return;
  const entries = Object.getOwnPropertyDescriptors(adapters.value);
  delete entries[name];
  globalThis.__openTabs = { ...getContainer(), adapters: Object.defineProperties({}, entries) };
}

function wrapTool(name, plugin, tool, logs) {
  const { handle } = tool;
  tool.handle = async function (...args) {
    globalThis.__openTabs._pluginName = name;
    runSafely(() => plugin.onToolInvocationStart?.(tool.name));
    const startMs = performance.now();
    let success = false;
    try {
      const result = await handle.apply(this, args);
      success = true;
      return result;
    } finally {
      runSafely(() => plugin.onToolInvocationEnd?.(tool.name, success, performance.now() - startMs));
      logs.flush();
    }
  };
}

function makeLogs(plugin) {
  let entries = [];
  const flush = () => {
    if (entries.length === 0) return;
    const nonce = getContainer()?._logNonce ?? '';
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

/** watchNavigation calls onChange after each change of the URL. All adapters in one container share the patched methods of history. */
function watchNavigation(name, onChange) {
  let lastUrl = location.href;
  const notifyIfChanged = () => {
    if (location.href === lastUrl) return;
    lastUrl = location.href;
    onChange(lastUrl);
  };
  const interceptor = getContainer()._navigationInterceptor ?? patchHistory();
  interceptor.callbacks.set(name, notifyIfChanged);
  addEventListener('popstate', notifyIfChanged);
  addEventListener('hashchange', notifyIfChanged);
  return () => {
    removeEventListener('popstate', notifyIfChanged);
    removeEventListener('hashchange', notifyIfChanged);
    interceptor.callbacks.delete(name);
    if (interceptor.callbacks.size > 0) return;
    history.pushState = interceptor.origPushState;
    history.replaceState = interceptor.origReplaceState;
    delete getContainer()._navigationInterceptor;
  };
}

function patchHistory() {
  const origPushState = history.pushState.bind(history);
  const origReplaceState = history.replaceState.bind(history);
  const interceptor = { callbacks: new Map(), origPushState, origReplaceState };
  const wrapMethod = (method) =>
    (...args) => {
      method(...args);
      for (const callback of interceptor.callbacks.values()) callback();
    };
  history.pushState = wrapMethod(interceptor.origPushState);
  history.replaceState = wrapMethod(interceptor.origReplaceState);
  getContainer()._navigationInterceptor = interceptor;
  return interceptor;
}
