/** Writes plugin packages that need no build step, for tests with many plugins. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SmallPlugin {
  readonly name: string;
  readonly version: number;
  readonly urlPatterns: readonly string[];
  readonly frames?: boolean;
  readonly world?: 'isolated';
}

/** writeSmallPlugin writes a plugin package into dir and returns the SHA-256 hash of the plugin's adapter. */
export function writeSmallPlugin(pluginFolder: string, { name, version, ...manifestFields }: SmallPlugin): string {
  mkdirSync(join(pluginFolder, 'dist'), { recursive: true });
  const writePackageFile = (file: string, fileText: string) => writeFileSync(join(pluginFolder, file), fileText);
  const nameJson = JSON.stringify(name);
  const code = `(()=>{const o=globalThis.__openTabs;(o.adapters??={})[${nameJson}]={name:${nameJson},isReady:()=>true,tools:[{name:"version",handle:async()=>({version:${version}})}]};})();\n`;
  const hash = (fileText: string) => createHash('sha256').update(fileText).digest('hex');
  const adapterCode = `${code}(function(){var a=(globalThis).__openTabs.adapters[${nameJson}];a.__adapterHash="${hash(code)}";Object.freeze(a);})();\n`;
  writePackageFile('dist/adapter.iife.js', adapterCode);
  const tool = { name: 'version', displayName: 'Version', description: 'Returns the version.' };
  const toolSchemas = { input_schema: { type: 'object' }, output_schema: { type: 'object' } };
  writePackageFile('dist/tools.json', JSON.stringify({ sdkVersion: '0.1.0', tools: [{ ...tool, ...toolSchemas }] }));
  const packageFields = { name: `opentabs-plugin-${name}`, version: `${version}.0.0`, main: 'dist/adapter.iife.js' };
  const opentabs = { displayName: name, description: `The plugin ${name}.`, ...manifestFields };
  writePackageFile('package.json', JSON.stringify({ ...packageFields, opentabs }));
  return hash(adapterCode);
}
