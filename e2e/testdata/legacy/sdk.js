// What plugins of the existing tool chain import, as far as the tests here need
// it: written from the description of the format alone. Each adapter bundles a
// copy of its own, and all of them meet in globalThis.__openTabs.

const container = () => {
  globalThis.__openTabs ??= {};
  return globalThis.__openTabs;
};

let transport;
const emit = (level, message, data) => {
  const entry = { level, message, data, ts: new Date().toISOString() };
  if (transport) transport(entry);
  else console.log(`[OpenTabs] ${message}`, ...data);
};

/** The logger; its records go to the transport that was set last. */
export const log = Object.freeze({
  debug: (message, ...data) => emit('debug', message, data),
  info: (message, ...data) => emit('info', message, data),
  warn: (message, ...data) => emit('warning', message, data),
  error: (message, ...data) => emit('error', message, data),
});

container()._setLogTransport = (next) => {
  const before = transport;
  transport = next;
  return () => {
    transport = before;
  };
};
container().log = log;

export const getConfig = (key) => globalThis.__openTabs?.pluginConfig?.[key];

export const getPreScriptValue = (key) => {
  const { preScript, _pluginName } = globalThis.__openTabs ?? {};
  return preScript?.[_pluginName]?.[key];
};

export const getAuthCache = (namespace) => globalThis.__openTabs?.tokenCache?.[namespace];

export const setAuthCache = (namespace, value) => {
  container().tokenCache ??= {};
  container().tokenCache[namespace] = value;
};

export const notifyReadinessChanged = () => globalThis.__openTabs?._notifyReadinessChanged?.();

/** An error with a code that an agent can act on. */
export class ToolError extends Error {
  constructor(message, code, options = {}) {
    super(message);
    Object.assign(this, { name: 'ToolError', code, retryable: false, ...options });
  }
}

export const defineTool = (definition) => definition;

/** The base class of plugins. */
export class OpenTabsPlugin {}
