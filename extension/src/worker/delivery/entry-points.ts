import { toHex } from '../hex.ts';

/**
 * EntryPoints names the global constants through which a loaded page can receive new adapters. The script that starts a
 * host stores the host's entry point in a global constant with a secret name. Page scripts share the global scope, but
 * cannot list or overwrite global constants, and cannot guess secret names.
 */
export interface EntryPoints {
  /** deriveName returns the name of a plugin's entry point, which stays the same after a restart of the browser. */
  deriveName(plugin: string): Promise<string>;
}

/**
 * The secret that `readSecret` returns must be unknown to web pages, because the names of entry points are derived from
 * it.
 */
export function makeEntryPoints(readSecret: () => Promise<string>): EntryPoints {
  const names = new Map<string, Promise<string>>();
  const computeName = async (plugin: string) => {
    const text = new TextEncoder().encode(`${await readSecret()} ${plugin}`);
    return `_${toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', text)).slice(0, 16))}`;
  };
  return {
    deriveName: (plugin) => {
      const name = names.get(plugin) ?? computeName(plugin);
      names.set(plugin, name);
      return name;
    },
  };
}

/** BASE_SCRIPT_NAME is passed instead of a plugin name to get the name of the base script's entry point. */
export const BASE_SCRIPT_NAME = '';

export function makeConstantScript(name: string, expression: string): string {
  return `const ${name} = ${expression}`;
}

/** makeVariableScript uses var instead of const, because makeStartAfterLoadScript may declare the same name again. */
export function makeVariableScript(name: string, expression: string): string {
  return `var ${name} = ${expression}`;
}

/**
 * The parameter `expression` evaluates to the host's entry point, or to undefined if the bridge rejected the host. The
 * returned script evaluates to true if the bridge accepted the host.
 */
export function makeStartAfterLoadScript(name: string, expression: string): string {
  // The late-start script declares no names that the code in `expression` could access, except the entry point's name.
  return `var ${name}; ((entryPoint) => { if (entryPoint) ${name} = entryPoint; return entryPoint !== undefined; })(${expression})`;
}

/** The value of the adapter script is true if the entry point accepted the adapter. */
export function makeAdapterScript(name: string, nonce: string, hash: string, adapter: string): string {
  return `typeof ${name} === 'function' && ${name}(${JSON.stringify(nonce)}, ${JSON.stringify(hash)}, ${adapter}\n)`;
}
