/** Writes plugin packages that need no build, for tests with many plugins. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** SmallPlugin is a plugin whose only tool returns the plugin's version. */
export interface SmallPlugin {
  readonly name: string;
  /** The major version; a higher number is a newer build. */
  readonly version: number;
  readonly urlPatterns: readonly string[];
  readonly frames?: boolean;
  readonly world?: 'isolated';
}

/** writeSmallPlugin writes the package of a plugin into dir and returns the adapter's hash. */
export function writeSmallPlugin(dir: string, { name, version, ...about }: SmallPlugin): string {
  mkdirSync(join(dir, 'dist'), { recursive: true });
  const put = (file: string, text: string) => writeFileSync(join(dir, file), text);
  const key = JSON.stringify(name);
  const code = `(()=>{const o=globalThis.__openTabs;(o.adapters??={})[${key}]={name:${key},isReady:()=>true,tools:[{name:"version",handle:async()=>({version:${version}})}]};})();\n`;
  const hash = (text: string) => createHash('sha256').update(text).digest('hex');
  const whole = `${code}(function(){var a=(globalThis).__openTabs.adapters[${key}];a.__adapterHash="${hash(code)}";Object.freeze(a);})();\n`;
  put('dist/adapter.iife.js', whole);
  const tool = { name: 'version', displayName: 'Version', description: 'Returns the version.' };
  const schemas = { input_schema: { type: 'object' }, output_schema: { type: 'object' } };
  put('dist/tools.json', JSON.stringify({ sdkVersion: '0.1.0', tools: [{ ...tool, ...schemas }] }));
  const entry = { name: `opentabs-plugin-${name}`, version: `${version}.0.0`, main: 'dist/adapter.iife.js' };
  const opentabs = { displayName: name, description: `The plugin ${name}.`, ...about };
  put('package.json', JSON.stringify({ ...entry, opentabs }));
  return hash(whole);
}
