// What a pre-script of the existing tool chain imports, in the words of plugin.js.

/** definePreScript hands fn to the runner that the bundle has put there for its plugin. */
export const definePreScript = (fn) => globalThis.__openTabs._preScriptRunner(fn);

/** prepare makes the plugin's bucket, and the runner of its pre-script, which runs once. */
export const prepare = (plugin) => {
  globalThis.__openTabs ??= {};
  const shared = globalThis.__openTabs;
  shared.preScript ??= {};
  shared.preScript[plugin] = {};
  const logAt = (level) => (message) => console[level](`[opentabs:${plugin}:pre-script] ${message}`);
  shared._preScriptRunner = (fn) => {
    delete shared._preScriptRunner;
    const set = (key, value) => {
      shared.preScript[plugin][key] = value; // also if an adapter has put another object in its place
    };
    try {
      fn({ set, log: { debug: logAt('debug'), info: logAt('info'), warn: logAt('warn'), error: logAt('error') } });
    } catch (error) {
      console.error(error);
    }
  };
};
