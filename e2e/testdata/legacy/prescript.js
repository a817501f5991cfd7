// A replacement for @opentabs-dev/plugin-sdk/pre-script of the original OpenTabs SDK.

/** definePreScript passes script to the runner that prepare has set. */
export const definePreScript = (script) => globalThis.__openTabs._preScriptRunner(script);

/** prepare creates the storage of a plugin's pre-script and sets the runner, which runs one pre-script. */
export const prepare = (plugin) => {
  globalThis.__openTabs ??= {};
  const container = globalThis.__openTabs;
  container.preScript ??= {};
  container.preScript[plugin] = {};
  const makeLogFunction = (level) => (message) => console[level](`[opentabs:${plugin}:pre-script] ${message}`);
  container._preScriptRunner = (script) => {
    delete container._preScriptRunner;
    const set = (key, value) => {
      container.preScript[plugin][key] = value; // The object is read again, because an adapter may have replaced it.
    };
    try {
      script({ set, log: { debug: makeLogFunction('debug'), info: makeLogFunction('info'), warn: makeLogFunction('warn'), error: makeLogFunction('error') } });
    } catch (error) {
      console.error(error);
    }
  };
};
