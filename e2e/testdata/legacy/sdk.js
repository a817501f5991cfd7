// A replacement for @opentabs-dev/plugin-sdk of the original OpenTabs SDK, with the exports that the tests need. The
// code in this file was written from the description of the original plugin format. Each adapter bundles a copy of this
// SDK, and all copies share globalThis.__openTabs.

const getContainer = () => {
  globalThis.__openTabs ??= {};
  return globalThis.__openTabs;
};

let transport;
const writeEntry = (level, message, data) => {
  const entry = { level, message, data, ts: new Date().toISOString() };
  if (transport) transport(entry);
  else console.log(`[OpenTabs] ${message}`, ...data);
};

/** The logger, which passes its entries to the transport that was set last. */
export const log = Object.freeze({
  debug: (message, ...data) => writeEntry('debug', message, data),
  info: (message, ...data) => writeEntry('info', message, data),
  warn: (message, ...data) => writeEntry('warning', message, data),
  error: (message, ...data) => writeEntry('error', message, data),
});

getContainer()._setLogTransport = (nextTransport) => {
  const previousTransport = transport;
  transport = nextTransport;
  return () => {
    transport = previousTransport;
  };
};
getContainer().log = log;

export const getConfig = (key) => globalThis.__openTabs?.pluginConfig?.[key];

export const getPreScriptValue = (key) => {
  const { preScript, _pluginName } = globalThis.__openTabs ?? {};
  return preScript?.[_pluginName]?.[key];
};

export const getAuthCache = (namespace) => globalThis.__openTabs?.tokenCache?.[namespace];

export const setAuthCache = (namespace, value) => {
  getContainer().tokenCache ??= {};
  getContainer().tokenCache[namespace] = value;
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
