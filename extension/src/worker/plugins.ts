import type { InjectMode, PluginFetchResult, PluginInfo, PluginSyncParams } from '../../../wire/wire.gen.ts';
import type { Script } from '../chrome-scripts.ts';
import { BASE, declare, declareApart, type EntryPoints } from './entry-points.ts';
import { hex } from './hex.ts';
import { asChrome } from './match.ts';
import { aheadOf, fitting } from './usage.ts';

/** Ids of the bridge's registrations begin with this, that for frames with both. */
const BRIDGE = 'bridge-';
const FRAME_BRIDGE = `${BRIDGE}frames-`;
const BRIDGE_FILE = 'bridge.js';
/** A probe's id is this and the id of the adapter that it runs before. */
const PROBE = 'probe-';
const PROBE_FILE = 'probe.js';
/** Ids of adapters begin with PREFIX, those of pre-scripts whose adapter is brought later with EARLY, those of bases with HOST. */
const PREFIX = 'plugin-';
const EARLY = 'early-';
const HOST = 'base-';

/** Registrar is the part of Chrome that registers scripts; see chrome.ts. */
export interface Registrar {
  userScriptsAllowed(): Promise<boolean>;
  userScripts(): Promise<Script[]>;
  registerUserScripts(scripts: readonly (Script & { readonly code: string })[]): Promise<void>;
  updateUserScript(script: Script): Promise<void>;
  unregisterUserScripts(ids: readonly string[]): Promise<void>;
  fileScripts(): Promise<Script[]>;
  registerFiles(scripts: readonly (Script & { readonly file: string })[]): Promise<void>;
  updateFile(script: Script, file: string): Promise<void>;
  unregisterFiles(ids: readonly string[]): Promise<void>;
}

/** PluginsOptions are what else registrations need. */
export interface PluginsOptions {
  readonly entryPoints: EntryPoints;
  /** code returns the code of a plugin, or of the host if name is empty. */
  code(name: string, script: string): Promise<PluginFetchResult>;
  /** used returns the plugins that were used lately, the last one first. */
  used(): Promise<readonly string[]>;
  /** boot returns a text that is another after each start of the browser. */
  boot(): Promise<string>;
}

/** Plugins keeps Chrome's registered scripts as the server wants them. Its methods run one after the other. */
export interface Plugins {
  /** wanted is what the last sync named; empty before. */
  readonly wanted: readonly PluginInfo[];
  /** host names the code of the host; empty if the server has none. */
  readonly host: string;
  readonly mode: InjectMode;
  /**
   * sync registers what is needed in every page that a plugin matches: a base, by which adapters come on demand, and the
   * bridge. Where adapters are files it registers those. It does not wait for what prepare registers.
   */
  sync(params: PluginSyncParams): Promise<InjectMode>;
  /** prepare registers the adapters that are worth it ahead, and all pre-scripts. */
  prepare(): Promise<void>;
  /**
   * comesLate reports whether a plugin may be brought into a document after its start. One with a pre-script may not, nor one that
   * has to start before the page's first script, unless there are too many of those.
   */
  comesLate(plugin: PluginInfo): boolean;
  /** detect finds out how adapters can be brought into pages now. */
  detect(): Promise<InjectMode>;
  /** canRun reports whether a plugin's host can be in any page: without user scripts there is none for the isolated world. */
  canRun(plugin: PluginInfo): boolean;
  /** clear removes everything, for an extension that was installed anew: its host may be another one. */
  clear(): Promise<void>;
}

/** makePlugins returns a Plugins that wants nothing yet. */
export function makePlugins(registrar: Registrar, options: PluginsOptions): Plugins {
  return new RegisteredPlugins(registrar, options);
}

/** UserScript is a script with its code. */
type UserScript = Script & { readonly code: string };

class RegisteredPlugins implements Plugins {
  readonly #registrar: Registrar;
  readonly #options: PluginsOptions;
  #wanted: readonly PluginInfo[] = [];
  #host = '';
  #mode: InjectMode = 'none';
  /** #beyond are the plugins that should start early and are beyond the budget. */
  #beyond: ReadonlySet<string> = new Set();
  /** #last is the turn that was taken last. */
  #last: Promise<unknown> = Promise.resolve();
  /** #registered is what Chrome has; it is asked once. */
  #registered: Map<string, Script> | undefined;

  constructor(registrar: Registrar, options: PluginsOptions) {
    this.#registrar = registrar;
    this.#options = options;
  }

  get wanted(): readonly PluginInfo[] {
    return this.#wanted;
  }

  get host(): string {
    return this.#host;
  }

  get mode(): InjectMode {
    return this.#mode;
  }

  sync(params: PluginSyncParams): Promise<InjectMode> {
    return this.#inTurn(async () => {
      this.#wanted = (params.plugins ?? []).filter((plugin) => matchesOf(plugin).length > 0);
      this.#host = params.host ?? '';
      this.#mode = await this.detect();
      if (this.#mode === 'userScripts') await this.#syncBases();
      await this.#syncFiles(this.#mode === 'files');
      return this.#mode;
    });
  }

  prepare(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#mode !== 'userScripts') return;
      const code = (plugin: PluginInfo) => this.#options.code(plugin.name, plugin.script);
      const used = await this.#options.used();
      const ahead = await fitting(aheadOf(this.#wanted, used), async (plugin) =>
        code(plugin).then(
          (c) => c.code.length + (c.preScript?.length ?? 0),
          () => Number.POSITIVE_INFINITY, // what can't be had now is brought when a page asks for it
        ),
      );
      this.#beyond = new Set(this.#wanted.flatMap((p) => (p.early === true && !ahead.includes(p) ? [p.name] : [])));
      const scripts = new Map<string, { script: Script; plugin: PluginInfo; whole: boolean }>();
      for (const plugin of this.#wanted) {
        const whole = ahead.includes(plugin);
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
        if (old && same(old, script)) continue;
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

  /** compose returns the script of a plugin; its adapter is left out unless whole is set. */
  async #compose(plugin: PluginInfo, code: PluginFetchResult, whole: boolean): Promise<string> {
    const host = await this.#options.code('', this.#host);
    const parts = [JSON.stringify(code.options ?? '{}'), whole ? code.code : 'undefined'];
    if (code.preScript !== undefined) parts.push(code.preScript);
    const keep = plugin.world === 'isolated' ? declareApart : declare;
    return keep(await this.#options.entryPoints.nameOf(plugin.name), `${host.code}(false)(${parts.join(',\n')}\n);`);
  }

  /** registerAll registers all or, if Chrome refuses that because of one, each by itself. */
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

  /** syncBases registers the bases, and removes what no plugin wants any more. */
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
        declare(entryPoint, `${host.code}(false)(${JSON.stringify(JSON.stringify({ frames }))}\n);`);
      await this.#registrar.registerUserScripts(fresh.map((base) => ({ ...base, code: code(base.allFrames) })));
      for (const base of fresh) have.set(base.id, base);
    }
    const current = new Set(this.#wanted.flatMap((p) => [this.#scriptOf(p, PREFIX).id, this.#scriptOf(p, EARLY).id]));
    const kept = new Set(bases.map((base) => base.id));
    await this.#unregister([...have.keys()].filter((id) => !kept.has(id) && !current.has(id)));
  }

  /** bases returns one for the plugins that want frames and one for the others: no document gets both. */
  async #bases(): Promise<Script[]> {
    const inPages = this.#wanted.filter((plugin) => plugin.world !== 'isolated');
    const framed = union(inPages.filter(wantsFrames));
    const bases = [
      { matches: framed, excludeMatches: [], allFrames: true },
      { matches: union(inPages.filter((p) => !wantsFrames(p))), excludeMatches: framed, allFrames: false },
    ];
    const scripts: Script[] = [];
    for (const base of bases) {
      if (base.matches.length === 0 || this.#host === '') continue;
      const id = `${HOST}${await digest(JSON.stringify([this.#host, base]))}`;
      scripts.push({ id, isolated: false, ...base });
    }
    return scripts;
  }

  async #unregister(ids: readonly string[]): Promise<void> {
    const have = await this.#have();
    await this.#registrar.unregisterUserScripts(ids);
    for (const id of ids) have.delete(id);
  }

  async detect(): Promise<InjectMode> {
    if (await this.#registrar.userScriptsAllowed()) return 'userScripts';
    return this.#wanted.some((plugin) => plugin.file) ? 'files' : 'none';
  }

  comesLate({ name, early, preScript }: PluginInfo): boolean {
    return preScript !== true && (early !== true || this.#beyond.has(name));
  }

  canRun(plugin: PluginInfo): boolean {
    return this.#mode !== 'files' || plugin.world !== 'isolated';
  }

  clear(): Promise<void> {
    return this.#inTurn(async () => {
      if (await this.#registrar.userScriptsAllowed()) {
        const have = await this.#have();
        await this.#registrar.unregisterUserScripts([...have.keys()]);
        have.clear();
      }
      await this.#registrar.unregisterFiles((await this.#registrar.fileScripts()).map((s) => s.id));
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #have(): Promise<Map<string, Script>> {
    this.#registered ??= new Map((await this.#registrar.userScripts()).map((s) => [s.id, s]));
    return this.#registered;
  }

  #scriptOf(plugin: PluginInfo, prefix: typeof PREFIX | typeof EARLY): Script {
    return {
      id: `${prefix}${plugin.name}-${plugin.script}`,
      matches: matchesOf(plugin),
      excludeMatches: readable(plugin.excludes),
      isolated: plugin.world === 'isolated',
      allFrames: plugin.allFrames === true,
      ...(plugin.world === 'isolated' ? { worldId: isolatedWorld(plugin) } : {}),
    };
  }

  /** putProbes registers probes anew, to run wherever and before these hosts do, whose registration comes just after. */
  async #putProbes(hosts: readonly Script[]): Promise<void> {
    // In frames a probe is wanted only where a bridge is.
    const wanting = this.#wanted.filter(wantsFrames);
    const framed = new Set(wanting.flatMap((p) => [this.#scriptOf(p, PREFIX).id, this.#scriptOf(p, EARLY).id]));
    const probes = hosts.map((host) => ({
      id: `${PROBE}${host.id}`,
      matches: host.matches,
      excludeMatches: host.excludeMatches,
      isolated: true,
      allFrames: host.id.startsWith(HOST) ? host.allFrames : framed.has(host.id),
      file: PROBE_FILE,
    }));
    const present = new Set((await this.#registrar.fileScripts()).map((s) => s.id));
    await this.#registrar.unregisterFiles(probes.map((probe) => probe.id).filter((id) => present.has(id)));
    await this.#registrar.registerFiles(probes);
  }

  /** syncFiles registers the bridge, and adapters that are files if they are used. */
  async #syncFiles(adapters: boolean): Promise<void> {
    const present = await this.#registrar.fileScripts();
    const files = new Map<string, { script: Script; file: string }>();
    for (const plugin of adapters ? this.#wanted : []) {
      const script = this.#scriptOf(plugin, PREFIX);
      // As a file it would run in the extension's own isolated world and could speak to the worker.
      if (plugin.file && !script.isolated) files.set(script.id, { script, file: plugin.file });
    }
    const adaptersHere = present.filter((s) => s.id.startsWith(PREFIX));
    const stale = adaptersHere.filter((s) => !same(s, files.get(s.id)?.script)).map((s) => s.id);
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
   * syncBridge has the bridge run wherever a plugin runs, and after its host: Chrome runs scripts in the order of their
   * registration, and the bridge hears hosts only while it starts. So it is registered anew after every other script.
   * Its id names what was there before it; the old one goes last, so that no document is without a bridge. Where a plugin
   * wants frames, a second one runs in them; in the top documents there it finds the first.
   *
   * After a restart of the browser Chrome lists the user scripts of before and runs none of them until some script is
   * registered. So the id names the start of the browser too.
   */
  async #syncBridge(): Promise<void> {
    const present = await this.#registrar.fileScripts();
    const user = this.#mode === 'userScripts' ? [...(await this.#have()).values()] : [];
    const hosts = [...user, ...present.filter((s) => !isBridge(s))].map(identify).sort();
    const boot = await this.#options.boot();
    const bridges = [
      { prefix: BRIDGE, plugins: this.#wanted, allFrames: false },
      { prefix: FRAME_BRIDGE, plugins: this.#wanted.filter(wantsFrames), allFrames: true },
    ];
    const keep = new Set<string>();
    for (const { prefix, plugins, allFrames } of bridges) {
      const matches = union(plugins);
      const id = `${prefix}${await digest(JSON.stringify([boot, hosts, matches]))}`;
      if (matches.length === 0) continue;
      keep.add(id);
      if (present.some((s) => s.id === id)) continue;
      const bridge = { id, matches, excludeMatches: [], isolated: true, allFrames, file: BRIDGE_FILE };
      await this.#registrar.registerFiles([bridge]);
    }
    await this.#registrar.unregisterFiles(present.filter((s) => isBridge(s) && !keep.has(s.id)).map((s) => s.id));
  }
}

/** isolatedWorld names the world of a plugin: the same for all its versions, so that a new one finds the host. */
export function isolatedWorld({ name }: PluginInfo): string {
  return `${PREFIX}${name}`;
}

function wantsFrames(plugin: PluginInfo): boolean {
  return plugin.frames === true;
}

function isBridge(script: Script): boolean {
  return script.id.startsWith(BRIDGE);
}

/** digest returns a short name for text. */
async function digest(text: string): Promise<string> {
  const bytes = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));
  return hex(bytes.slice(0, 8));
}

/** matchesOf leaves out what is not a match pattern: Chrome would refuse all patterns because of it. */
function matchesOf(plugin: PluginInfo): readonly string[] {
  return readable(plugin.matches);
}

/** union returns the patterns of plugins, each once, in an order that does not depend on that of the plugins. */
function union(plugins: readonly PluginInfo[]): readonly string[] {
  return [...new Set(plugins.flatMap(matchesOf))].sort();
}

function readable(patterns: readonly string[] | undefined): readonly string[] {
  return (patterns ?? []).flatMap(asChrome);
}

function same(a: Script | undefined, b: Script | undefined): boolean {
  if (!a || !b) return a === b;
  return (
    a.isolated === b.isolated &&
    a.allFrames === b.allFrames &&
    list(a.matches) === list(b.matches) &&
    list(a.excludeMatches) === list(b.excludeMatches)
  );
}

/** identify returns a text for a script that is the same whether Chrome or the server has named it. */
function identify({ id, allFrames, matches, excludeMatches }: Script): string {
  return JSON.stringify([id, allFrames, list(matches), list(excludeMatches)]);
}

function list(patterns: readonly string[]): string {
  return [...patterns].sort().join(' ');
}
