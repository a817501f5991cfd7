import type { InjectMode, PluginFetchResult, PluginInfo, PluginSyncParams } from '../../../../wire/wire.gen.ts';
import type { RegisteredScript } from '../../chrome-scripts.ts';
import {
  BASE_SCRIPT_NAME,
  type EntryPoints,
  makeConstantScript,
  makeVariableScript,
} from '../delivery/entry-points.ts';
import { toHex } from '../hex.ts';
import { toChromePatterns } from './match.ts';
import { selectWithinBudget, sortForPreregistration } from './usage.ts';

const BRIDGE_PREFIX = 'bridge-';
const FRAME_BRIDGE_PREFIX = `${BRIDGE_PREFIX}frames-`;
const BRIDGE_FILE = 'bridge.js';
/**
 * PROBE_PREFIX begins the registration ID of a probe, a script that runs in a document just before a host or the
 * bridge.
 */
const PROBE_PREFIX = 'probe-';
const PROBE_FILE = 'probe.js';
const ADAPTER_PREFIX = 'plugin-';
/** PRE_SCRIPT_PREFIX is the prefix of the registration ID of a pre-script whose adapter is injected later. */
const PRE_SCRIPT_PREFIX = 'early-';
const BASE_PREFIX = 'base-';

export interface ScriptRegistrar {
  areUserScriptsAllowed(): Promise<boolean>;
  listUserScripts(): Promise<RegisteredScript[]>;
  registerUserScripts(scripts: readonly (RegisteredScript & { readonly code: string })[]): Promise<void>;
  updateUserScript(script: RegisteredScript): Promise<void>;
  unregisterUserScripts(ids: readonly string[]): Promise<void>;
  listFileScripts(): Promise<RegisteredScript[]>;
  registerFiles(scripts: readonly (RegisteredScript & { readonly file: string })[]): Promise<void>;
  updateFile(script: RegisteredScript, file: string): Promise<void>;
  unregisterFiles(ids: readonly string[]): Promise<void>;
}

export interface PluginsOptions {
  readonly entryPoints: EntryPoints;
  /** fetchCode returns the code of a plugin, or the code of the host for an empty name. */
  fetchCode(name: string, script: string): Promise<PluginFetchResult>;
  listRecentlyUsedPlugins(): Promise<readonly string[]>;
  /** readBootId returns an ID that changes whenever the browser starts. */
  readBootId(): Promise<string>;
}

type UserScript = RegisteredScript & { readonly code: string };

/**
 * Plugins registers the scripts of plugins in Chrome, as the server requests. If several methods of Plugins are called
 * concurrently, each call waits until the previous call has ended.
 */
export class Plugins {
  readonly #registrar: ScriptRegistrar;
  readonly #options: PluginsOptions;
  #wantedPlugins: readonly PluginInfo[] = [];
  #hostHash = '';
  #mode: InjectMode = 'none';
  #isSyncing = false;
  #isSynced = false;
  /**
   * #pluginsOverBudget contains the plugins that should start before the page's scripts, but whose code is too large to
   * register in advance.
   */
  #pluginsOverBudget: ReadonlySet<string> = new Set();
  #lastTask: Promise<unknown> = Promise.resolve();
  #registeredScripts: Map<string, RegisteredScript> | undefined;

  constructor(registrar: ScriptRegistrar, options: PluginsOptions) {
    this.#registrar = registrar;
    this.#options = options;
  }

  get wantedPlugins(): readonly PluginInfo[] {
    return this.#wantedPlugins;
  }

  get hostHash(): string {
    return this.#hostHash;
  }

  get mode(): InjectMode {
    return this.#mode;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  get injectablePlugins(): readonly PluginInfo[] {
    return this.#isSynced && this.#mode === 'userScripts' ? this.#wantedPlugins : [];
  }

  /**
   * The method `sync` registers the scripts that every matching page needs: the bridge, and a base script that can run
   * adapters on demand. The method `registerEarlyScripts` registers pre-scripts and the adapters that start as soon as
   * a page loads.
   */
  sync(params: PluginSyncParams): Promise<InjectMode> {
    this.#isSyncing = true;
    return this.#enqueue(async () => {
      const wantedPlugins = (params.plugins ?? []).filter((plugin) => listMatches(plugin).length > 0);
      this.#mode = await this.#readInjectMode(wantedPlugins);
      await this.#unregisterUnwanted(wantedPlugins);
      this.#wantedPlugins = wantedPlugins;
      this.#hostHash = params.host ?? '';
      if (this.#mode === 'userScripts') await this.#syncBaseScripts();
      await this.#syncFiles(this.#mode === 'files');
      this.#isSynced = true;
      return this.#mode;
    });
  }

  /**
   * The method `registerEarlyScripts` registers all pre-scripts, and the adapters that should start as soon as a page
   * loads.
   */
  registerEarlyScripts(): Promise<void> {
    return this.#enqueue(async () => {
      if (this.#mode !== 'userScripts') return;
      const fetchCode = (plugin: PluginInfo) => this.#options.fetchCode(plugin.name, plugin.script);
      const usedPlugins = await this.#options.listRecentlyUsedPlugins();
      const preregisteredPlugins = await selectWithinBudget(
        sortForPreregistration(this.#wantedPlugins, usedPlugins),
        async (plugin) =>
          fetchCode(plugin).then(
            (fetched) => fetched.code.length + (fetched.preScript?.length ?? 0),
            () => Number.POSITIVE_INFINITY,
          ),
      );
      this.#pluginsOverBudget = new Set(
        this.#wantedPlugins.flatMap((p) => (p.early === true && !preregisteredPlugins.includes(p) ? [p.name] : [])),
      );
      const scripts = new Map<string, { script: RegisteredScript; plugin: PluginInfo; hasAdapter: boolean }>();
      for (const plugin of this.#wantedPlugins) {
        const hasAdapter = preregisteredPlugins.includes(plugin);
        if (!hasAdapter && plugin.preScript !== true) continue;
        const script = this.#makeScript(plugin, hasAdapter ? ADAPTER_PREFIX : PRE_SCRIPT_PREFIX);
        scripts.set(script.id, { script, plugin, hasAdapter });
      }
      const registeredScripts = await this.#readRegisteredScripts();
      const staleIds = [...registeredScripts.keys()].filter((id) => !id.startsWith(BASE_PREFIX) && !scripts.has(id));
      await this.#unregisterScripts(staleIds);
      const newScripts: UserScript[] = [];
      for (const [id, { script, plugin, hasAdapter }] of scripts) {
        const oldScript = registeredScripts.get(id);
        if (oldScript && isSameScript(oldScript, script)) continue;
        if (oldScript) {
          await this.#syncProbeScripts([script]);
          await this.#registrar.updateUserScript(script);
          registeredScripts.set(id, script);
          continue;
        }
        try {
          newScripts.push({ ...script, code: await this.#composeScript(plugin, await fetchCode(plugin), hasAdapter) });
        } catch (error) {
          console.warn(`opentabs: ${plugin.name} can't be registered: ${String(error)}`);
        }
      }
      await this.#registerScripts(newScripts);
      await this.#syncFiles(false);
    });
  }

  async #composeScript(plugin: PluginInfo, code: PluginFetchResult, hasAdapter: boolean): Promise<string> {
    const host = await this.#options.fetchCode('', this.#hostHash);
    const scriptParts = [JSON.stringify(code.options ?? '{}'), hasAdapter ? code.code : 'undefined'];
    if (code.preScript !== undefined) scriptParts.push(code.preScript);
    const storeScript = plugin.world === 'isolated' ? makeVariableScript : makeConstantScript;
    return storeScript(
      await this.#options.entryPoints.deriveName(plugin.name),
      `${host.code}(false)(${scriptParts.join(',\n')}\n);`,
    );
  }

  /**
   * If Chrome rejects the scripts, registerScripts registers the scripts one by one, so that one faulty script blocks
   * no other.
   */
  async #registerScripts(newScripts: readonly UserScript[]): Promise<void> {
    if (newScripts.length === 0) return;
    await this.#syncProbeScripts(newScripts);
    try {
      await this.#registrar.registerUserScripts(newScripts);
    } catch (error) {
      if (newScripts.length === 1) console.warn(`opentabs: ${newScripts[0]?.id} can't be registered: ${String(error)}`);
      else for (const script of newScripts) await this.#registerScripts([script]);
      return;
    }
    const registeredScripts = await this.#readRegisteredScripts();
    for (const { code: _, ...script } of newScripts) registeredScripts.set(script.id, script);
  }

  async #syncBaseScripts(): Promise<void> {
    const registeredScripts = await this.#readRegisteredScripts();
    const baseScripts = await this.#makeBaseScripts();
    const newBaseScripts = baseScripts.filter((base) => !registeredScripts.has(base.id));
    if (newBaseScripts.length > 0) {
      const [host, entryPoint] = await Promise.all([
        this.#options.fetchCode('', this.#hostHash),
        this.#options.entryPoints.deriveName(BASE_SCRIPT_NAME),
        this.#syncProbeScripts(newBaseScripts),
      ]);
      const makeBaseCode = (frames: boolean) =>
        makeConstantScript(entryPoint, `${host.code}(false)(${JSON.stringify(JSON.stringify({ frames }))}\n);`);
      await this.#registrar.registerUserScripts(
        newBaseScripts.map((base) => ({ ...base, code: makeBaseCode(base.allFrames) })),
      );
      for (const base of newBaseScripts) registeredScripts.set(base.id, base);
    }
    const baseIds = new Set(baseScripts.map((base) => base.id));
    await this.#unregisterScripts(
      [...registeredScripts.keys()].filter((id) => id.startsWith(BASE_PREFIX) && !baseIds.has(id)),
    );
  }

  /**
   * #unregisterUnwanted must run before #wantedPlugins changes, because Chrome must not start a plugin that is not in
   * #wantedPlugins.
   */
  async #unregisterUnwanted(wantedPlugins: readonly PluginInfo[]): Promise<void> {
    const currentScriptIds = new Set(
      wantedPlugins.flatMap((p) => [this.#makeScript(p, ADAPTER_PREFIX).id, this.#makeScript(p, PRE_SCRIPT_PREFIX).id]),
    );
    const isOther = (id: string) =>
      (id.startsWith(ADAPTER_PREFIX) || id.startsWith(PRE_SCRIPT_PREFIX)) && !currentScriptIds.has(id);
    if (this.#mode === 'userScripts')
      await this.#unregisterScripts([...(await this.#readRegisteredScripts()).keys()].filter(isOther));
    const files = (await this.#registrar.listFileScripts()).map((script) => script.id);
    await this.#registrar.unregisterFiles(files.filter(isOther));
  }

  /**
   * makeBaseScripts returns two base scripts: one for plugins that also run in frames, and one for all other plugins.
   * In each document, Chrome runs at most one of the base scripts.
   */
  async #makeBaseScripts(): Promise<RegisteredScript[]> {
    const mainWorldPlugins = this.#wantedPlugins.filter((plugin) => plugin.world !== 'isolated');
    const frameMatches = mergeMatchPatterns(mainWorldPlugins.filter(runsInFrames));
    const baseScripts = [
      { matches: frameMatches, excludeMatches: [], allFrames: true },
      {
        matches: mergeMatchPatterns(mainWorldPlugins.filter((p) => !runsInFrames(p))),
        excludeMatches: frameMatches,
        allFrames: false,
      },
    ];
    const scripts: RegisteredScript[] = [];
    for (const base of baseScripts) {
      if (base.matches.length === 0 || this.#hostHash === '') continue;
      const id = `${BASE_PREFIX}${await makeShortHash(JSON.stringify([this.#hostHash, base]))}`;
      scripts.push({ id, isIsolated: false, ...base });
    }
    return scripts;
  }

  async #unregisterScripts(ids: readonly string[]): Promise<void> {
    const registeredScripts = await this.#readRegisteredScripts();
    await this.#registrar.unregisterUserScripts(ids);
    for (const id of ids) registeredScripts.delete(id);
  }

  async hasInjectModeChanged(): Promise<boolean> {
    const oldInjectMode = this.#mode;
    return (await this.detectMode()) !== oldInjectMode;
  }

  detectMode(): Promise<InjectMode> {
    return this.#readInjectMode(this.#wantedPlugins);
  }

  async #readInjectMode(wantedPlugins: readonly PluginInfo[]): Promise<InjectMode> {
    if (await this.#registrar.areUserScriptsAllowed()) return 'userScripts';
    // If the server wants no plugins, return 'files', so that the panel does not request the permission for user
    // scripts.
    return wantedPlugins.length === 0 || wantedPlugins.some((plugin) => plugin.file) ? 'files' : 'none';
  }

  /**
   * A plugin with a pre-script cannot start late. A plugin that should start early can start late only if its code is
   * too large to register in advance.
   */
  canInjectAfterLoad({ name, early, preScript }: PluginInfo): boolean {
    return preScript !== true && (early !== true || this.#pluginsOverBudget.has(name));
  }

  /** If the user has not allowed user scripts, plugins for isolated worlds cannot run. */
  canRun(plugin: PluginInfo): boolean {
    return this.#mode !== 'files' || plugin.world !== 'isolated';
  }

  /**
   * The method `clear` unregisters all scripts, because scripts of an older extension version may use another protocol.
   * `clear` returns true if a sync must run again, because `clear` may have removed scripts that the sync registered.
   */
  clear(): Promise<boolean> {
    const wasSyncing = this.#isSyncing;
    return this.#enqueue(async () => {
      if (await this.#registrar.areUserScriptsAllowed()) {
        const registeredScripts = await this.#readRegisteredScripts();
        await this.#registrar.unregisterUserScripts([...registeredScripts.keys()]);
        registeredScripts.clear();
      }
      await this.#registrar.unregisterFiles((await this.#registrar.listFileScripts()).map((s) => s.id));
      return wasSyncing;
    });
  }

  #enqueue<T>(task: () => Promise<T>): Promise<T> {
    const queuedWork = this.#lastTask.then(task, task);
    this.#lastTask = queuedWork.catch(() => undefined);
    return queuedWork;
  }

  async #readRegisteredScripts(): Promise<Map<string, RegisteredScript>> {
    this.#registeredScripts ??= new Map((await this.#registrar.listUserScripts()).map((s) => [s.id, s]));
    return this.#registeredScripts;
  }

  #makeScript(plugin: PluginInfo, prefix: typeof ADAPTER_PREFIX | typeof PRE_SCRIPT_PREFIX): RegisteredScript {
    return {
      id: `${prefix}${plugin.name}-${plugin.script}`,
      matches: listMatches(plugin),
      excludeMatches: filterValidPatterns(plugin.excludes),
      isIsolated: plugin.world === 'isolated',
      allFrames: plugin.allFrames === true,
      ...(plugin.world === 'isolated' ? { worldId: makeIsolatedWorldId(plugin) } : {}),
    };
  }

  /**
   * Chrome runs scripts in the order of their registration, so #syncProbeScripts registers each host's probe before the
   * host.
   */
  async #syncProbeScripts(hosts: readonly RegisteredScript[]): Promise<void> {
    // A probe must not run in child frames unless the bridge also runs in child frames.
    const framePlugins = this.#wantedPlugins.filter(runsInFrames);
    const frameScriptIds = new Set(
      framePlugins.flatMap((p) => [this.#makeScript(p, ADAPTER_PREFIX).id, this.#makeScript(p, PRE_SCRIPT_PREFIX).id]),
    );
    const probeScripts = hosts.map((host) => ({
      id: `${PROBE_PREFIX}${host.id}`,
      matches: host.matches,
      excludeMatches: host.excludeMatches,
      isIsolated: true,
      allFrames: host.id.startsWith(BASE_PREFIX) ? host.allFrames : frameScriptIds.has(host.id),
      file: PROBE_FILE,
    }));
    const registeredFileIds = new Set((await this.#registrar.listFileScripts()).map((s) => s.id));
    await this.#registrar.unregisterFiles(
      probeScripts.map((probe) => probe.id).filter((id) => registeredFileIds.has(id)),
    );
    await this.#registrar.registerFiles(probeScripts);
  }

  async #syncFiles(includesAdapters: boolean): Promise<void> {
    const registeredFileScripts = await this.#registrar.listFileScripts();
    const files = new Map<string, { script: RegisteredScript; file: string }>();
    for (const plugin of includesAdapters ? this.#wantedPlugins : []) {
      const script = this.#makeScript(plugin, ADAPTER_PREFIX);
      // A plugin for an isolated world is not registered as a file, because Chrome would run the file in the
      // extension's world. In the extension's world, a plugin could send messages to the worker.
      if (plugin.file && !script.isIsolated) files.set(script.id, { script, file: plugin.file });
    }
    const registeredAdapterScripts = registeredFileScripts.filter((s) => s.id.startsWith(ADAPTER_PREFIX));
    const staleIds = registeredAdapterScripts.filter((s) => !isSameScript(s, files.get(s.id)?.script)).map((s) => s.id);
    const newFileScripts = [...files.values()].filter(
      ({ script }) => staleIds.includes(script.id) || !registeredFileScripts.some((s) => s.id === script.id),
    );
    const hostScriptIds = new Set([
      ...files.keys(),
      ...(this.#mode === 'userScripts' ? (await this.#readRegisteredScripts()).keys() : []),
    ]);
    const staleProbes = registeredFileScripts.filter(
      (s) => s.id.startsWith(PROBE_PREFIX) && !hostScriptIds.has(s.id.slice(PROBE_PREFIX.length)),
    );
    await this.#registrar.unregisterFiles([...staleIds, ...staleProbes.map((s) => s.id)]);
    await this.#syncProbeScripts(newFileScripts.map(({ script }) => script));
    await this.#registrar.registerFiles(newFileScripts.map(({ script, file }) => ({ ...script, file })));
    await this.#syncBridge();
  }

  /**
   * #syncBridge registers the bridge again after all other scripts. Chrome runs scripts in the order of their
   * registration, and the bridge accepts hosts only while the bridge is starting. The new bridge is registered before
   * the old bridge is unregistered, so that every new document has a bridge. Plugins for frames need a second bridge,
   * which does nothing in a top document that has the first bridge. After a restart, Chrome lists the old user scripts,
   * but runs none of the scripts until another script is registered. The hash in the bridge's ID covers the ID of the
   * browser start, so that each restart registers a new bridge.
   */
  async #syncBridge(): Promise<void> {
    const registeredFileScripts = await this.#registrar.listFileScripts();
    const userScripts = this.#mode === 'userScripts' ? [...(await this.#readRegisteredScripts()).values()] : [];
    const hostScriptKeys = [...userScripts, ...registeredFileScripts.filter((s) => !isBridgeScript(s))]
      .map(makeScriptKey)
      .sort();
    const bootId = await this.#options.readBootId();
    const bridgeScripts = [
      { prefix: BRIDGE_PREFIX, plugins: this.#wantedPlugins, allFrames: false },
      { prefix: FRAME_BRIDGE_PREFIX, plugins: this.#wantedPlugins.filter(runsInFrames), allFrames: true },
    ];
    const keptBridgeIds = new Set<string>();
    for (const { prefix, plugins, allFrames } of bridgeScripts) {
      const matches = mergeMatchPatterns(plugins);
      const id = `${prefix}${await makeShortHash(JSON.stringify([bootId, hostScriptKeys, matches]))}`;
      if (matches.length === 0) continue;
      keptBridgeIds.add(id);
      if (registeredFileScripts.some((s) => s.id === id)) continue;
      const bridge = { id, matches, excludeMatches: [], isIsolated: true, allFrames, file: BRIDGE_FILE };
      await this.#registrar.registerFiles([bridge]);
    }
    await this.#registrar.unregisterFiles(
      registeredFileScripts.filter((s) => isBridgeScript(s) && !keptBridgeIds.has(s.id)).map((s) => s.id),
    );
  }
}

/** All versions of a plugin run in the same isolated world, so that a new version finds the old version's host. */
export function makeIsolatedWorldId({ name }: PluginInfo): string {
  return `${ADAPTER_PREFIX}${name}`;
}

function runsInFrames(plugin: PluginInfo): boolean {
  return plugin.frames === true;
}

function isBridgeScript(script: RegisteredScript): boolean {
  return script.id.startsWith(BRIDGE_PREFIX);
}

async function makeShortHash(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return toHex(bytes.slice(0, 8));
}

/** Invalid patterns are left out, because Chrome rejects a script with an invalid pattern. */
function listMatches(plugin: PluginInfo): readonly string[] {
  return filterValidPatterns(plugin.matches);
}

function mergeMatchPatterns(plugins: readonly PluginInfo[]): readonly string[] {
  return [...new Set(plugins.flatMap(listMatches))].sort();
}

function filterValidPatterns(patterns: readonly string[] | undefined): readonly string[] {
  return (patterns ?? []).flatMap(toChromePatterns);
}

function isSameScript(firstScript: RegisteredScript | undefined, secondScript: RegisteredScript | undefined): boolean {
  if (!firstScript || !secondScript) return firstScript === secondScript;
  return (
    firstScript.isIsolated === secondScript.isIsolated &&
    firstScript.allFrames === secondScript.allFrames &&
    joinSorted(firstScript.matches) === joinSorted(secondScript.matches) &&
    joinSorted(firstScript.excludeMatches) === joinSorted(secondScript.excludeMatches)
  );
}

/** makeScriptKey returns the same text for equal scripts, even if Chrome lists their patterns in another order. */
function makeScriptKey({ id, allFrames, matches, excludeMatches }: RegisteredScript): string {
  return JSON.stringify([id, allFrames, joinSorted(matches), joinSorted(excludeMatches)]);
}

function joinSorted(patterns: readonly string[]): string {
  return [...patterns].sort().join(' ');
}
