import type {
  InjectMode,
  PluginCodeParams,
  PluginInfo,
  PluginSyncParams,
  PluginSyncResult,
} from '../../../wire/wire.gen.ts';
import type { Script } from '../chrome.ts';
import { type Doors, declare } from './doors.ts';
import { hex } from './hex.ts';
import { asChrome } from './match.ts';

/** Ids of the bridge's registrations begin with this, that for frames with both. */
const BRIDGE = 'bridge-';
const FRAME_BRIDGE = `${BRIDGE}frames-`;
const BRIDGE_FILE = 'bridge.js';
/** A probe's id is this and the id of the adapter that it runs before. */
const PROBE = 'probe-';
const PROBE_FILE = 'probe.js';
/** Ids of adapters begin with this. */
const PREFIX = 'plugin-';

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

/** Fresh is code that waits for its registration. */
interface Fresh {
  readonly params: PluginCodeParams;
  readonly taken: () => void;
  readonly refused: (why: unknown) => void;
}

/** Plugins keeps Chrome's registered scripts as the server wants them. Its methods run one after the other. */
export interface Plugins {
  /** wanted is what the last sync named; empty before. */
  readonly wanted: readonly PluginInfo[];
  readonly mode: InjectMode;
  sync(params: PluginSyncParams): Promise<PluginSyncResult>;
  /**
   * code registers an adapter that sync called missing, together with others that wait: each registration costs as much as
   * all that is registered. It rejects if the plugin is not wanted, or not with this script.
   */
  code(params: PluginCodeParams): Promise<void>;
  /** detect finds out how adapters can be brought into pages now. */
  detect(): Promise<InjectMode>;
  /** canRun tells whether a plugin's host can be in any page: without user scripts there is none for the isolated world. */
  canRun(plugin: PluginInfo): boolean;
  /** clear removes everything, for an extension that was installed anew: its host may be another one. */
  clear(): Promise<void>;
}

/** makePlugins returns a Plugins that wants nothing yet. */
export function makePlugins(registrar: Registrar, doors: Doors): Plugins {
  return new RegisteredPlugins(registrar, doors);
}

class RegisteredPlugins implements Plugins {
  readonly #registrar: Registrar;
  readonly #doors: Doors;
  #wanted: readonly PluginInfo[] = [];
  #mode: InjectMode = 'none';
  /** #last is the turn that was taken last. */
  #last: Promise<unknown> = Promise.resolve();
  /** #registered is what Chrome has; it is asked once. */
  #registered: Map<string, Script> | undefined;
  #fresh: Fresh[] = [];

  constructor(registrar: Registrar, doors: Doors) {
    this.#registrar = registrar;
    this.#doors = doors;
  }

  get wanted(): readonly PluginInfo[] {
    return this.#wanted;
  }

  get mode(): InjectMode {
    return this.#mode;
  }

  sync(params: PluginSyncParams): Promise<PluginSyncResult> {
    return this.#inTurn(async () => {
      this.#wanted = (params.plugins ?? []).filter((plugin) => matchesOf(plugin).length > 0);
      this.#mode = await this.detect();
      const missing = this.#mode === 'userScripts' ? await this.#syncUserScripts() : [];
      await this.#syncFiles(this.#mode === 'files');
      return missing.length > 0 ? { mode: this.#mode, missing } : { mode: this.#mode };
    });
  }

  code(params: PluginCodeParams): Promise<void> {
    return new Promise((taken, refused) => {
      this.#fresh.push({ params, taken, refused });
      void this.#inTurn(() => this.#takeFresh());
    });
  }

  /**
   * takeFresh registers what waits. As long as more has come meanwhile the bridge keeps its place, before the new hosts:
   * each registration has Chrome load all scripts anew. Documents that begin until then are loaded anew (reload.ts).
   */
  async #takeFresh(): Promise<void> {
    const fresh = this.#fresh.splice(0);
    if (fresh.length === 0) return;
    const why = await this.#registerFresh(fresh);
    try {
      if (this.#fresh.length === 0) await this.#syncBridge();
    } catch (error) {
      for (const { params } of fresh) if (!why.has(params)) why.set(params, error);
    }
    for (const { params, taken, refused } of fresh) {
      if (why.has(params)) refused(why.get(params));
      else taken();
    }
  }

  /** registerFresh registers all or, if Chrome refuses that because of one, each by itself. It returns why it could not. */
  async #registerFresh(fresh: readonly Fresh[]): Promise<Map<PluginCodeParams, unknown>> {
    const why = new Map<PluginCodeParams, unknown>();
    try {
      await this.#register(fresh.map((f) => f.params));
    } catch (error) {
      const [only, ...others] = fresh;
      if (only && others.length === 0) why.set(only.params, error);
      else for (const one of fresh) for (const entry of await this.#registerFresh([one])) why.set(...entry);
    }
    return why;
  }

  async #register(all: readonly PluginCodeParams[]): Promise<void> {
    const have = await this.#have();
    const hosts = new Map<string, Script & { readonly code: string }>();
    for (const { name, script, code } of all) {
      const plugin = this.#wanted.find((p) => p.name === name && p.script === script);
      if (!plugin)
        throw new Error(`the plugin ${name} with the script ${script} is not wanted; sync the plugins first`);
      const host = this.#scriptOf(plugin);
      if (!have.has(host.id)) hosts.set(host.id, { ...host, code: declare(await this.#doors.nameOf(name), code) });
    }
    if (!(await this.#registrar.userScriptsAllowed())) {
      throw new Error('this browser does not allow user scripts; sync the plugins first');
    }
    if (hosts.size === 0) return;
    await this.#putProbes([...hosts.values()]);
    await this.#registrar.registerUserScripts([...hosts.values()]);
    for (const [id, { code: _, ...script }] of hosts) have.set(id, script);
  }

  async detect(): Promise<InjectMode> {
    if (await this.#registrar.userScriptsAllowed()) return 'userScripts';
    return this.#wanted.some((plugin) => plugin.file) ? 'files' : 'none';
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

  #scriptOf(plugin: PluginInfo): Script {
    return {
      id: `${PREFIX}${plugin.name}-${plugin.script}`,
      matches: matchesOf(plugin),
      excludeMatches: readable(plugin.excludes),
      isolated: plugin.world === 'isolated',
      allFrames: plugin.allFrames === true,
      ...(plugin.world === 'isolated' ? { worldId: isolatedWorld(plugin) } : {}),
    };
  }

  /** syncUserScripts removes and moves what is registered, and returns the plugins whose code is not here. */
  async #syncUserScripts(): Promise<string[]> {
    const have = await this.#have();
    const scripts = new Map(this.#wanted.map((plugin) => [this.#scriptOf(plugin).id, plugin]));
    const stale = [...have.keys()].filter((id) => !scripts.has(id));
    await this.#registrar.unregisterUserScripts(stale);
    for (const id of stale) have.delete(id);
    const missing: string[] = [];
    for (const [id, plugin] of scripts) {
      const script = this.#scriptOf(plugin);
      const old = have.get(id);
      if (!old) missing.push(plugin.name);
      else if (!same(old, script)) {
        await this.#putProbes([script]);
        await this.#registrar.updateUserScript(script);
        have.set(id, script);
      }
    }
    return missing;
  }

  /** putProbes registers probes anew, to run wherever and before these hosts do, whose registration comes just after. */
  async #putProbes(hosts: readonly Script[]): Promise<void> {
    // In frames a probe is wanted only where a bridge is.
    const framed = new Set(this.#wanted.filter(wantsFrames).map((plugin) => this.#scriptOf(plugin).id));
    const probes = hosts.map((host) => ({
      id: `${PROBE}${host.id}`,
      matches: host.matches,
      excludeMatches: host.excludeMatches,
      isolated: true,
      allFrames: framed.has(host.id),
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
      const script = this.#scriptOf(plugin);
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
   */
  async #syncBridge(): Promise<void> {
    const present = await this.#registrar.fileScripts();
    const user = this.#mode === 'userScripts' ? [...(await this.#have()).values()] : [];
    const hosts = [...user, ...present.filter((s) => !isBridge(s))];
    const bridges = [
      { prefix: BRIDGE, plugins: this.#wanted, allFrames: false },
      { prefix: FRAME_BRIDGE, plugins: this.#wanted.filter(wantsFrames), allFrames: true },
    ];
    const keep = new Set<string>();
    for (const { prefix, plugins, allFrames } of bridges) {
      const matches = [...new Set(plugins.flatMap(matchesOf))];
      const id = `${prefix}${await digest(JSON.stringify([hosts, matches]))}`;
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

function list(patterns: readonly string[]): string {
  return [...patterns].sort().join(' ');
}
