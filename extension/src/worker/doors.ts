import { hex } from './hex.ts';

/**
 * Doors names the constants by which documents take adapters after their start (host/life.ts). The script that starts a
 * host declares the constant; scripts of the page share its scope, but can neither list such constants nor replace them.
 */
export interface Doors {
  /** nameOf returns the name of a plugin's constant; it is the same after a restart of the browser. */
  nameOf(plugin: string): Promise<string>;
}

/** makeDoors returns the doors of this browser. secret is a text that no page knows. */
export function makeDoors(secret: () => Promise<string>): Doors {
  const names = new Map<string, Promise<string>>();
  const compute = async (plugin: string) => {
    const text = new TextEncoder().encode(`${await secret()} ${plugin}`);
    return `_${hex(new Uint8Array(await crypto.subtle.digest('SHA-256', text)).slice(0, 16))}`;
  };
  return {
    nameOf: (plugin) => {
      const name = names.get(plugin) ?? compute(plugin);
      names.set(plugin, name);
      return name;
    },
  };
}

/** BASE is the plugin that the base's door is named for. */
export const BASE = '';

/** declare returns a script that keeps the value of an expression in a constant. */
export function declare(name: string, expression: string): string {
  return `const ${name} = ${expression}`;
}

/**
 * declareApart returns a script that keeps the value of an expression in a variable, for a world that the page has no part in.
 * A constant could not be replaced: where the bridge ran before the host, it is started once more (startApart).
 */
export function declareApart(name: string, expression: string): string {
  return `var ${name} = ${expression}`;
}

/**
 * startApart returns a script that starts a host late in a world that the page has no part in; expression is its door, or
 * undefined if the bridge did not take it. The script's value is whether the bridge did.
 */
export function startApart(name: string, expression: string): string {
  // The code in the expression sees no name of this script but its own door.
  return `var ${name}; ((door) => { if (door) ${name} = door; return door !== undefined; })(${expression})`;
}

/** enter returns a script that brings an adapter to a door; its value is whether the door took it. */
export function enter(name: string, nonce: string, hash: string, adapter: string): string {
  return `typeof ${name} === 'function' && ${name}(${JSON.stringify(nonce)}, ${JSON.stringify(hash)}, ${adapter}\n)`;
}
