import { toHex } from '../hex.ts';

/**
 * EntryPoints names the constants through which documents accept adapters after their start (host/lifecycle.ts). The
 * script that starts a host declares the constant with the entry point of the host. Scripts of the page share the scope
 * of the script that starts a host, but cannot list or replace its constants.
 */
export interface EntryPoints {
  /**
   * nameOf returns the name of a plugin's constant. The name of a plugin's constant stays the same after a restart of
   * the browser.
   */
  nameOf(plugin: string): Promise<string>;
}

/**
 * makeEntryPoints returns the entry points of this browser. secret is the text from which names are derived, and must
 * be unknown to pages.
 */
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
 * variableScript returns a script that stores the value of an expression in a variable, for an isolated world. The
 * variable is declared with var, because lateStartScript may declare a variable with the same name.
 */
export function variableScript(name: string, expression: string): string {
  return `var ${name} = ${expression}`;
}

/**
 * lateStartScript returns a script that starts a host late in an isolated world. expression is the entry point of the
 * host, or undefined if the bridge rejected the host. The script returns whether the bridge accepted the host.
 */
export function lateStartScript(name: string, expression: string): string {
  // The code in `expression` can use no name of the late-start script except the name of its entry point.
  return `var ${name}; ((entryPoint) => { if (entryPoint) ${name} = entryPoint; return entryPoint !== undefined; })(${expression})`;
}

/**
 * adapterScript returns a script that passes an adapter to an entry point, and that returns whether the entry point
 * accepted the adapter.
 */
export function adapterScript(name: string, nonce: string, hash: string, adapter: string): string {
  return `typeof ${name} === 'function' && ${name}(${JSON.stringify(nonce)}, ${JSON.stringify(hash)}, ${adapter}\n)`;
}
