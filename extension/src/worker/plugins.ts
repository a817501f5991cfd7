import type {
  InjectMode,
  PluginCodeParams,
  PluginInfo,
  PluginSyncParams,
  PluginSyncResult,
} from '../../../wire/wire.gen.ts';
import type { Script } from '../chrome.ts';

/** BRIDGE is the id of the bridge's registration. */
const BRIDGE = 'bridge';
/** Ids of adapters begin with this. */
const PREFIX = 'plugin-';

/** Registrar is the part of Chrome that registers scripts; see chrome.ts. */
export interface Registrar {
  userScriptsAllowed(): Promise<boolean>;
  userScripts(): Promise<Script[]>;
  registerUserScript(script: Script, code: string): Promise<void>;
  updateUserScript(script: Script): Promise<void>;
  unregisterUserScripts(ids: readonly string[]): Promise<void>;
  fileScripts(): Promise<Script[]>;
  registerFile(script: Script, file: string): Promise<void>;
  unregisterFiles(ids: readonly string[]): Promise<void>;
}

/** Plugins keeps Chrome's registered scripts as the server wants them. Its methods run one after the other. */
export interface Plugins {
  /** wanted is what the last sync named; empty before. */
  readonly wanted: readonly PluginInfo[];
  readonly mode: InjectMode;
  sync(params: PluginSyncParams): Promise<PluginSyncResult>;
  /** code registers an adapter that sync called missing. It rejects if the plugin is not wanted, or not with this hash. */
  code(params: PluginCodeParams): Promise<void>;
  /** detect finds out how adapters can be brought into pages now. */
  detect(): Promise<InjectMode>;
  /** clear removes everything, for an extension that was installed anew: its host may be another one. */
  clear(): Promise<void>;
}

/** makePlugins returns a Plugins; build names the version of server and extension, whose change makes all code stale. */
export function makePlugins(chrome: Registrar, build: () => string): Plugins {
  let wanted: readonly PluginInfo[] = [];
  let mode: InjectMode = 'none';
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };

  /** registered is what Chrome has; it is asked once. */
  let registered: Map<string, Script> | undefined;
  const known = async (): Promise<Map<string, Script>> => {
    registered ??= new Map((await chrome.userScripts()).map((s) => [s.id, s]));
    return registered;
  };

  const scriptOf = (plugin: PluginInfo): Script => ({
    id: `${PREFIX}${plugin.name}-${plugin.hash}-${build()}`,
    matches: plugin.matches ?? [],
    excludeMatches: plugin.excludes ?? [],
    isolated: plugin.world === 'isolated',
  });

  const sync = async (params: PluginSyncParams): Promise<PluginSyncResult> => {
    wanted = (params.plugins ?? []).filter((plugin) => (plugin.matches ?? []).length > 0);
    mode = await modeFor(chrome, wanted);
    const missing = mode === 'userScripts' ? await syncUserScripts(await known()) : [];
    await syncFiles(mode === 'files');
    return missing.length > 0 ? { mode, missing } : { mode };
  };

  /** syncUserScripts removes and moves what is registered, and returns the plugins whose code is not here. */
  const syncUserScripts = async (have: Map<string, Script>): Promise<string[]> => {
    const scripts = new Map(wanted.map((plugin) => [scriptOf(plugin).id, plugin]));
    const stale = [...have.keys()].filter((id) => !scripts.has(id));
    await chrome.unregisterUserScripts(stale);
    for (const id of stale) have.delete(id);
    const missing: string[] = [];
    for (const [id, plugin] of scripts) {
      const script = scriptOf(plugin);
      const old = have.get(id);
      if (!old) missing.push(plugin.name);
      else if (!same(old, script)) {
        await chrome.updateUserScript(script);
        have.set(id, script);
      }
    }
    return missing;
  };

  /** syncFiles registers the bridge, and adapters that are files if they are used. */
  const syncFiles = async (adapters: boolean) => {
    const present = await chrome.fileScripts();
    const files = new Map<string, { script: Script; file: string }>();
    for (const plugin of adapters ? wanted : []) {
      const script = scriptOf(plugin);
      // As a file it would run in the extension's own isolated world and could speak to the worker.
      if (plugin.file && !script.isolated) files.set(script.id, { script, file: plugin.file });
    }
    const stale = present.filter((s) => s.id !== BRIDGE && !same(s, files.get(s.id)?.script)).map((s) => s.id);
    const fresh = [...files.values()].filter(
      ({ script }) => stale.includes(script.id) || !present.some((s) => s.id === script.id),
    );
    const bridge: Script = {
      id: BRIDGE,
      matches: [...new Set(wanted.flatMap((plugin) => plugin.matches ?? []))],
      excludeMatches: [],
      isolated: true,
    };
    const oldBridge = present.find((s) => s.id === BRIDGE);
    const keepsBridge = fresh.length === 0 && same(oldBridge, bridge);
    await chrome.unregisterFiles(oldBridge && !keepsBridge ? [...stale, BRIDGE] : stale);
    for (const { script, file } of fresh) await chrome.registerFile(script, file);
    // Chrome runs them in the order of their registration, and the bridge comes best after the hosts.
    if (!keepsBridge && bridge.matches.length > 0) await chrome.registerFile(bridge, 'bridge.js');
  };

  const code = async (params: PluginCodeParams) => {
    const plugin = wanted.find((p) => p.name === params.name && p.hash === params.hash);
    if (!plugin)
      throw new Error(`the plugin ${params.name} with the hash ${params.hash} is not wanted; sync the plugins first`);
    if (!(await chrome.userScriptsAllowed()))
      throw new Error('this browser does not allow user scripts; sync the plugins first');
    const script = scriptOf(plugin);
    const have = await known();
    if (have.has(script.id)) return;
    await chrome.registerUserScript(script, params.code);
    have.set(script.id, script);
  };

  return {
    get wanted() {
      return wanted;
    },
    get mode() {
      return mode;
    },
    sync: (params) => inTurn(() => sync(params)),
    code: (params) => inTurn(() => code(params)),
    detect: () => modeFor(chrome, wanted),
    clear: () =>
      inTurn(async () => {
        if (await chrome.userScriptsAllowed()) {
          const have = await known();
          await chrome.unregisterUserScripts([...have.keys()]);
          have.clear();
        }
        await chrome.unregisterFiles((await chrome.fileScripts()).map((s) => s.id));
      }),
  };
}

async function modeFor(chrome: Registrar, wanted: readonly PluginInfo[]): Promise<InjectMode> {
  if (await chrome.userScriptsAllowed()) return 'userScripts';
  return wanted.some((plugin) => plugin.file) ? 'files' : 'none';
}

function same(a: Script | undefined, b: Script | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.isolated === b.isolated &&
    list(a.matches) === list(b.matches) &&
    list(a.excludeMatches) === list(b.excludeMatches)
  );
}

function list(patterns: readonly string[]): string {
  return [...patterns].sort().join(' ');
}
