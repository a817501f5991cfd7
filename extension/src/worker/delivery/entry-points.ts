import { toHex } from '../hex.ts';

/**
 * EntryPoints names the constants through which documents accept adapters after their start (host/lifecycle.ts). The
 * script that starts a host declares the constant. Scripts of the page share the scope of this script, but cannot list
 * or replace constants.
 */
export interface EntryPoints {
  /** nameOf returns the name of a plugin's constant. The name stays the same after a restart of the browser. */
  nameOf(plugin: string): Promise<string>;
}

/** makeEntryPoints returns the entry points of this browser. secret must be unknown to pages. */
export function makeEntryPoints(secret: () => Promise<string>): EntryPoints {
  const names = new Map<string, Promise<string>>();
  const computeName = async (plugin: string) => {
    const text = new TextEncoder().encode(`${await secret()} ${plugin}`);
    return `_${toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', text)).slice(0, 16))}`;
  };
  return {
    nameOf: (plugin) => {
      const name = names.get(plugin) ?? computeName(plugin);
      names.set(plugin, name);
      return name;
    },
  };
}

/** BASE is the plugin name for the entry point of the base. */
export const BASE = '';

/** constantScript returns a script that stores the value of an expression in a constant. */
export function constantScript(name: string, expression: string): string {
  return `const ${name} = ${expression}`;
}

/**
 * variableScript returns a script that stores the value of an expression in a variable, for an isolated world. A host
 * that started after the bridge is started again (lateStartScript), which a constant would not allow.
 */
export function variableScript(name: string, expression: string): string {
  return `var ${name} = ${expression}`;
}

/**
 * lateStartScript returns a script that starts a host late in an isolated world. expression is the entry point of the
 * host, or undefined if the bridge rejected the host. The script returns whether the bridge accepted the host.
 */
export function lateStartScript(name: string, expression: string): string {
  // The code in the expression can use no name of this script except its own entry point.
  return `var ${name}; ((entryPoint) => { if (entryPoint) ${name} = entryPoint; return entryPoint !== undefined; })(${expression})`;
}

/**
 * adapterScript returns a script that passes an adapter to an entry point, and that returns whether the entry point
 * accepted the adapter.
 */
export function adapterScript(name: string, nonce: string, hash: string, adapter: string): string {
  return `typeof ${name} === 'function' && ${name}(${JSON.stringify(nonce)}, ${JSON.stringify(hash)}, ${adapter}\n)`;
}
