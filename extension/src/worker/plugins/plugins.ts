import type { InjectMode, PluginFetchResult, PluginInfo, PluginSyncParams } from '../../../../wire/wire.gen.ts';
import type { Script } from '../../chrome-scripts.ts';
import { BASE, constantScript, type EntryPoints, variableScript } from '../delivery/entry-points.ts';
import { toHex } from '../hex.ts';
import { asChrome } from './match.ts';
import { sortForPreregistration, withinBudget } from './usage.ts';

/** BRIDGE is the prefix of the bridge's registration IDs. FRAME_BRIDGE is the prefix for the bridge of frames. */
const BRIDGE = 'bridge-';
const FRAME_BRIDGE = `${BRIDGE}frames-`;
const BRIDGE_FILE = 'bridge.js';
/**
 * PROBE is the prefix of probe IDs. After this prefix, a probe ID contains the ID of the script that runs after the
 * probe.
 */
const PROBE = 'probe-';
const PROBE_FILE = 'probe.js';
/**
 * PREFIX is the prefix of adapter IDs. EARLY is the prefix for pre-scripts whose adapter is injected later. HOST is the
 * prefix for bases.
 */
const PREFIX = 'plugin-';
const EARLY = 'early-';
const HOST = 'base-';

/** Registrar is the part of Chrome that registers scripts (chrome-scripts.ts). */
export interface Registrar {
  areUserScriptsAllowed(): Promise<boolean>;
  listUserScripts(): Promise<Script[]>;
  registerUserScripts(scripts: readonly (Script & { readonly code: string })[]): Promise<void>;
  updateUserScript(script: Script): Promise<void>;
  unregisterUserScripts(ids: readonly string[]): Promise<void>;
  listFileScripts(): Promise<Script[]>;
  registerFiles(scripts: readonly (Script & { readonly file: string })[]): Promise<void>;
  updateFile(script: Script, file: string): Promise<void>;
  unregisterFiles(ids: readonly string[]): Promise<void>;
}

/** PluginsOptions are the dependencies of Plugins, except the registrar and the store. */
export interface PluginsOptions {
  readonly entryPoints: EntryPoints;
  /** code returns the code of a plugin, or of the host if name is empty. */
  code(name: string, script: string): Promise<PluginFetchResult>;
  /** used returns the recently used plugins, newest first. */
  used(): Promise<readonly string[]>;
  /** boot returns a text that changes with each start of the browser. */
  boot(): Promise<string>;
}

/** UserScript is a script with its code. */
type UserScript = Script & { readonly code: string };

/**
 * Plugins keeps Chrome's registered scripts in sync with the server. The methods of Plugins run one after the other.
 */
export class Plugins {
  readonly #registrar: Registrar;
  readonly #options: PluginsOptions;
  #wanted: readonly PluginInfo[] = [];
  #host = '';
  #mode: InjectMode = 'none';
  /** #isSyncing is set when the first sync begins, and #isSynced is set when the first sync has ended. */
  #isSyncing = false;
  #isSynced = false;
  /** #beyond are the plugins that should start early but exceed the budget of preregistered code. */
  #beyond: ReadonlySet<string> = new Set();
  /** #last is the promise of the last queued method call. */
  #last: Promise<unknown> = Promise.resolve();
  /** #registered are Chrome's registered user scripts, which are read once. */
  #registered: Map<string, Script> | undefined;

  constructor(registrar: Registrar, options: PluginsOptions) {
    this.#registrar = registrar;
    this.#options = options;
  }

  /** wanted are the plugins of the last sync, or none before the first sync. */
  get wanted(): readonly PluginInfo[] {
    return this.#wanted;
  }

  /** host is the hash of the host's code, or empty if the server has no host code. */
  get host(): string {
    return this.#host;
  }

  get mode(): InjectMode {
    return this.#mode;
  }

  /** isSynced reports whether a sync has ended. */
  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** injectable are the plugins that can be injected into documents now. */
  get injectable(): readonly PluginInfo[] {
    return this.#isSynced && this.#mode === 'userScripts' ? this.#wanted : [];
  }

  /**
   * sync registers the scripts that every matching page needs: the bridge and a base, which can host adapters on
   * demand. In file mode, sync also registers the adapters. sync does not wait for prepare.
   */
  sync(params: PluginSyncParams): Promise<InjectMode> {
    this.#isSyncing = true;
    return this.#inTurn(async () => {
      const wanted = (params.plugins ?? []).filter((plugin) => matchesOf(plugin).length > 0);
      this.#mode = await this.#detect(wanted);
      await this.#unregisterOthers(wanted);
      this.#wanted = wanted;
      this.#host = params.host ?? '';
      if (this.#mode === 'userScripts') await this.#syncBases();
      await this.#syncFiles(this.#mode === 'files');
      this.#isSynced = true;
      return this.#mode;
    });
  }

  /** prepare registers all pre-scripts, and the adapters that should start without delay. */
  prepare(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#mode !== 'userScripts') return;
      const code = (plugin: PluginInfo) => this.#options.code(plugin.name, plugin.script);
      const used = await this.#options.used();
      const preregistered = await withinBudget(sortForPreregistration(this.#wanted, used), async (plugin) =>
        code(plugin).then(
          (c) => c.code.length + (c.preScript?.length ?? 0),
          () => Number.POSITIVE_INFINITY, // code that cannot be fetched now is fetched when a page needs it
        ),
      );
      this.#beyond = new Set(
        this.#wanted.flatMap((p) => (p.early === true && !preregistered.includes(p) ? [p.name] : [])),
      );
      const scripts = new Map<string, { script: Script; plugin: PluginInfo; whole: boolean }>();
      for (const plugin of this.#wanted) {
        const whole = preregistered.includes(plugin);
        if (!whole && plugin.preScript !== true) continue;
        const script = this.#scriptOf(plugin, whole ? PREFIX : EARLY);
        scripts.set(script.id, { script, plugin, whole });
      }
      const have = await this.#have();
      const stale = [...have.keys()].filter((id) => !id.startsWith(HOST) && !scripts.has(id));
      await this.#unregister(stale);
      const fresh: UserScript[] = [];
      for (const [id, { script, plugin, whole }] of scripts) {
        const old = have.get(id);
        if (old && isSame(old, script)) continue;
        if (old) {
          await this.#putProbes([script]);
          await this.#registrar.updateUserScript(script);
          have.set(id, script);
          continue;
        }
        try {
          fresh.push({ ...script, code: await this.#compose(plugin, await code(plugin), whole) });
        } catch (error) {
          console.warn(`opentabs: ${plugin.name} can't be registered: ${String(error)}`);
        }
      }
      await this.#registerAll(fresh);
      await this.#syncFiles(false);
    });
  }

  /** compose returns the script of a plugin. The script contains the adapter only if whole is set. */
  async #compose(plugin: PluginInfo, code: PluginFetchResult, whole: boolean): Promise<string> {
    const host = await this.#options.code('', this.#host);
    const parts = [JSON.stringify(code.options ?? '{}'), whole ? code.code : 'undefined'];
    if (code.preScript !== undefined) parts.push(code.preScript);
    const keep = plugin.world === 'isolated' ? variableScript : constantScript;
    return keep(await this.#options.entryPoints.nameOf(plugin.name), `${host.code}(false)(${parts.join(',\n')}\n);`);
  }

  /** registerAll registers all scripts together or, if Chrome rejects one of them, one by one. */
  async #registerAll(fresh: readonly UserScript[]): Promise<void> {
    if (fresh.length === 0) return;
    await this.#putProbes(fresh);
    try {
      await this.#registrar.registerUserScripts(fresh);
    } catch (error) {
      if (fresh.length === 1) console.warn(`opentabs: ${fresh[0]?.id} can't be registered: ${String(error)}`);
      else for (const one of fresh) await this.#registerAll([one]);
      return;
    }
    const have = await this.#have();
    for (const { code: _, ...script } of fresh) have.set(script.id, script);
  }

  /** syncBases registers the bases, and removes unwanted scripts. */
  async #syncBases(): Promise<void> {
    const have = await this.#have();
    const bases = await this.#bases();
    const fresh = bases.filter((base) => !have.has(base.id));
    if (fresh.length > 0) {
      const [host, entryPoint] = await Promise.all([
        this.#options.code('', this.#host),
        this.#options.entryPoints.nameOf(BASE),
        this.#putProbes(fresh),
      ]);
      const code = (frames: boolean) =>
        constantScript(entryPoint, `${host.code}(false)(${JSON.stringify(JSON.stringify({ frames }))}\n);`);
      await this.#registrar.registerUserScripts(fresh.map((base) => ({ ...base, code: code(base.allFrames) })));
      for (const base of fresh) have.set(base.id, base);
    }
    const kept = new Set(bases.map((base) => base.id));
    await this.#unregister([...have.keys()].filter((id) => id.startsWith(HOST) && !kept.has(id)));
  }

  /**
   * unregisterOthers unregisters the adapters and pre-scripts that are not wanted any more. unregisterOthers runs
   * first, so that a plugin is missing in wanted only when Chrome no longer runs the plugin's code in new documents.
   */
  async #unregisterOthers(wanted: readonly PluginInfo[]): Promise<void> {
    const current = new Set(wanted.flatMap((p) => [this.#scriptOf(p, PREFIX).id, this.#scriptOf(p, EARLY).id]));
    const isOther = (id: string) => (id.startsWith(PREFIX) || id.startsWith(EARLY)) && !current.has(id);
    if (this.#mode === 'userScripts') await this.#unregister([...(await this.#have()).keys()].filter(isOther));
    const files = (await this.#registrar.listFileScripts()).map((script) => script.id);
    await this.#registrar.unregisterFiles(files.filter(isOther));
  }

  /**
   * bases returns a base for plugins with frames and a base for all other plugins. A document never gets both bases.
   */
  async #bases(): Promise<Script[]> {
    const inPages = this.#wanted.filter((plugin) => plugin.world !== 'isolated');
    const framed = unionOfMatches(inPages.filter(wantsFrames));
    const bases = [
      { matches: framed, excludeMatches: [], allFrames: true },
      { matches: unionOfMatches(inPages.filter((p) => !wantsFrames(p))), excludeMatches: framed, allFrames: false },
    ];
    const scripts: Script[] = [];
    for (const base of bases) {
      if (base.matches.length === 0 || this.#host === '') continue;
      const id = `${HOST}${await shortHash(JSON.stringify([this.#host, base]))}`;
      scripts.push({ id, isIsolated: false, ...base });
    }
    return scripts;
  }

  async #unregister(ids: readonly string[]): Promise<void> {
    const have = await this.#have();
    await this.#registrar.unregisterUserScripts(ids);
    for (const id of ids) have.delete(id);
  }

  /** hasModeChanged reports whether the user has allowed or revoked user scripts since the last sync. */
  async hasModeChanged(): Promise<boolean> {
    const before = this.#mode;
    return (await this.detect()) !== before;
  }

  /** detect finds out how adapters can be injected into pages now. */
  detect(): Promise<InjectMode> {
    return this.#detect(this.#wanted);
  }

  async #detect(wanted: readonly PluginInfo[]): Promise<InjectMode> {
    if (await this.#registrar.areUserScriptsAllowed()) return 'userScripts';
    return wanted.some((plugin) => plugin.file) ? 'files' : 'none';
  }

  /**
   * canStartLate reports whether a plugin may be injected into a document after its start. A plugin with a pre-script
   * may not be injected late. A plugin that must start before the page's scripts may not be injected late either,
   * unless there are too many such plugins.
   */
  canStartLate({ name, early, preScript }: PluginInfo): boolean {
    return preScript !== true && (early !== true || this.#beyond.has(name));
  }

  /**
   * canRun reports whether a plugin can run in any page. Without user scripts, plugins in isolated worlds cannot run.
   */
  canRun(plugin: PluginInfo): boolean {
    return this.#mode !== 'files' || plugin.world !== 'isolated';
  }

  /**
   * clear removes all registrations, because registrations of an older version may use another protocol. clear resolves
   * with whether another sync is needed, because clear may have removed scripts of a running sync.
   */
  clear(): Promise<boolean> {
    const isSyncNeeded = this.#isSyncing;
    return this.#inTurn(async () => {
      if (await this.#registrar.areUserScriptsAllowed()) {
        const have = await this.#have();
        await this.#registrar.unregisterUserScripts([...have.keys()]);
        have.clear();
      }
      await this.#registrar.unregisterFiles((await this.#registrar.listFileScripts()).map((s) => s.id));
      return isSyncNeeded;
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #have(): Promise<Map<string, Script>> {
    this.#registered ??= new Map((await this.#registrar.listUserScripts()).map((s) => [s.id, s]));
    return this.#registered;
  }

  #scriptOf(plugin: PluginInfo, prefix: typeof PREFIX | typeof EARLY): Script {
    return {
      id: `${prefix}${plugin.name}-${plugin.script}`,
      matches: matchesOf(plugin),
      excludeMatches: validPatterns(plugin.excludes),
      isIsolated: plugin.world === 'isolated',
      allFrames: plugin.allFrames === true,
      ...(plugin.world === 'isolated' ? { worldId: isolatedWorld(plugin) } : {}),
    };
  }

  /**
   * putProbes registers the probes of these hosts again. A probe is registered before its host, and so runs before its
   * host.
   */
  async #putProbes(hosts: readonly Script[]): Promise<void> {
    // In frames, a probe is needed only if the bridge runs there.
    const wanting = this.#wanted.filter(wantsFrames);
    const framed = new Set(wanting.flatMap((p) => [this.#scriptOf(p, PREFIX).id, this.#scriptOf(p, EARLY).id]));
    const probes = hosts.map((host) => ({
      id: `${PROBE}${host.id}`,
      matches: host.matches,
      excludeMatches: host.excludeMatches,
      isIsolated: true,
      allFrames: host.id.startsWith(HOST) ? host.allFrames : framed.has(host.id),
      file: PROBE_FILE,
    }));
    const present = new Set((await this.#registrar.listFileScripts()).map((s) => s.id));
    await this.#registrar.unregisterFiles(probes.map((probe) => probe.id).filter((id) => present.has(id)));
    await this.#registrar.registerFiles(probes);
  }

  /** syncFiles registers the bridge and, in file mode, the adapters. */
  async #syncFiles(adapters: boolean): Promise<void> {
    const present = await this.#registrar.listFileScripts();
    const files = new Map<string, { script: Script; file: string }>();
    for (const plugin of adapters ? this.#wanted : []) {
      const script = this.#scriptOf(plugin, PREFIX);
      // A file would run in the extension's own isolated world and could send messages to the worker.
      if (plugin.file && !script.isIsolated) files.set(script.id, { script, file: plugin.file });
    }
    const adaptersHere = present.filter((s) => s.id.startsWith(PREFIX));
    const stale = adaptersHere.filter((s) => !isSame(s, files.get(s.id)?.script)).map((s) => s.id);
    const fresh = [...files.values()].filter(
      ({ script }) => stale.includes(script.id) || !present.some((s) => s.id === script.id),
    );
    const hosts = new Set([...files.keys(), ...(this.#mode === 'userScripts' ? (await this.#have()).keys() : [])]);
    const probes = present.filter((s) => s.id.startsWith(PROBE) && !hosts.has(s.id.slice(PROBE.length)));
    await this.#registrar.unregisterFiles([...stale, ...probes.map((s) => s.id)]);
    await this.#putProbes(fresh.map(({ script }) => script));
    await this.#registrar.registerFiles(fresh.map(({ script, file }) => ({ ...script, file })));
    await this.#syncBridge();
  }

  /**
   * syncBridge registers the bridge wherever a plugin runs, and after its host. Chrome runs scripts in the order of
   * registration, and the bridge accepts hosts only while it starts. Therefore the bridge is registered again after
   * each change of another script. The ID of the bridge is a digest of the scripts that are registered before the
   * bridge. The old bridge is removed last, so that no document is without a bridge. Plugins with frames need a second
   * bridge for frames; in top documents, the second bridge detects the first and does nothing. After a restart of the
   * browser, Chrome lists the old user scripts but runs none of them until a script is registered. Therefore the digest
   * in the bridge's ID also covers the start time of the browser.
   */
  async #syncBridge(): Promise<void> {
    const present = await this.#registrar.listFileScripts();
    const user = this.#mode === 'userScripts' ? [...(await this.#have()).values()] : [];
    const hosts = [...user, ...present.filter((s) => !isBridge(s))].map(scriptKey).sort();
    const boot = await this.#options.boot();
    const bridges = [
      { prefix: BRIDGE, plugins: this.#wanted, allFrames: false },
      { prefix: FRAME_BRIDGE, plugins: this.#wanted.filter(wantsFrames), allFrames: true },
    ];
    const keep = new Set<string>();
    for (const { prefix, plugins, allFrames } of bridges) {
      const matches = unionOfMatches(plugins);
      const id = `${prefix}${await shortHash(JSON.stringify([boot, hosts, matches]))}`;
      if (matches.length === 0) continue;
      keep.add(id);
      if (present.some((s) => s.id === id)) continue;
      const bridge = { id, matches, excludeMatches: [], isIsolated: true, allFrames, file: BRIDGE_FILE };
      await this.#registrar.registerFiles([bridge]);
    }
    await this.#registrar.unregisterFiles(present.filter((s) => isBridge(s) && !keep.has(s.id)).map((s) => s.id));
  }
}

/**
 * isolatedWorld returns the name of a plugin's world. All versions of a plugin share this world, so that a new version
 * finds the host.
 */
export function isolatedWorld({ name }: PluginInfo): string {
  return `${PREFIX}${name}`;
}

function wantsFrames(plugin: PluginInfo): boolean {
  return plugin.frames === true;
}

function isBridge(script: Script): boolean {
  return script.id.startsWith(BRIDGE);
}

/** shortHash returns a short hash of a text. */
async function shortHash(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return toHex(bytes.slice(0, 8));
}

/**
 * matchesOf returns a plugin's valid match patterns. Invalid patterns are removed, because Chrome would reject all
 * patterns if one is invalid.
 */
function matchesOf(plugin: PluginInfo): readonly string[] {
  return validPatterns(plugin.matches);
}

/** unionOfMatches returns the patterns of plugins, sorted and without duplicates. */
function unionOfMatches(plugins: readonly PluginInfo[]): readonly string[] {
  return [...new Set(plugins.flatMap(matchesOf))].sort();
}

function validPatterns(patterns: readonly string[] | undefined): readonly string[] {
  return (patterns ?? []).flatMap(asChrome);
}

function isSame(a: Script | undefined, b: Script | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.isIsolated === b.isIsolated &&
    a.allFrames === b.allFrames &&
    sortPatterns(a.matches) === sortPatterns(b.matches) &&
    sortPatterns(a.excludeMatches) === sortPatterns(b.excludeMatches)
  );
}

/** scriptKey returns a text for a script that does not depend on where the script was listed. */
function scriptKey({ id, allFrames, matches, excludeMatches }: Script): string {
  return JSON.stringify([id, allFrames, sortPatterns(matches), sortPatterns(excludeMatches)]);
}

function sortPatterns(patterns: readonly string[]): string {
  return [...patterns].sort().join(' ');
}
