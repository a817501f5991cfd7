/** Generates many large plugins, to simulate a user who has installed all available plugins. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runOrThrow } from '../harness/process.ts';

export const pluginCount = 120;
export const totalToolCount = 2_449;
const smallestBytes = 60_000;
const largestBytes = 900_000;

function computeAdapterBytes(i: number): number {
  return Math.round(largestBytes - (largestBytes - smallestBytes) * (i / (pluginCount - 1)) ** 3);
}

function countToolsOfPlugin(i: number): number {
  return Math.floor(((i + 1) * totalToolCount) / pluginCount) - Math.floor((i * totalToolCount) / pluginCount);
}

/**
 * makeHost returns the host name of a generated plugin's site, such as many-0.localhost, which resolves to the loopback
 * address.
 */
export function makeHost(name: string): string {
  return `${name}.localhost`;
}

export async function addPlugins(homeFolder: string): Promise<void> {
  for (let i = 0; i < pluginCount; i++) {
    const pluginFolder = join(homeFolder, 'packages', `many-${i}`);
    writePlugin(pluginFolder, `many-${i}`, countToolsOfPlugin(i), computeAdapterBytes(i));
    await runOrThrow(['plugin', 'add', pluginFolder, '--permission', 'auto'], { OPENTABS_HOME: homeFolder });
  }
}

function writePlugin(pluginFolder: string, name: string, toolCount: number, bytes: number): void {
  mkdirSync(join(pluginFolder, 'dist'), { recursive: true });
  const writeJson = (file: string, value: unknown) => writeFileSync(join(pluginFolder, file), JSON.stringify(value));
  writeJson('package.json', {
    name: `opentabs-plugin-${name}`,
    version: '1.0.0',
    main: 'dist/adapter.iife.js',
    opentabs: { displayName: name, description: 'One of many.', urlPatterns: [`http://${makeHost(name)}/*`] },
  });
  const properties = Object.fromEntries(
    ['channel', 'query', 'cursor', 'limit', 'order', 'since', 'until', 'author'].map((key) => [
      key,
      { type: 'string', description: `The ${key} that the tool takes, in the words of a typical plugin` },
    ]),
  );
  const tools = Array.from({ length: toolCount }, (_, i) => ({
    name: `tool_${i}`,
    displayName: `Tool ${i}`,
    description: 'Lists the things of a channel, newest first, in pages; a cursor asks for the next page.',
    input_schema: { type: 'object', properties, required: ['channel'], additionalProperties: false },
    output_schema: { type: 'object', properties: { items: { type: 'array', items: { type: 'object', properties } } } },
  }));
  writeJson('dist/tools.json', { sdkVersion: '0.1.0', tools });
  writeFileSync(join(pluginFolder, 'dist/adapter.iife.js'), makeAdapterCode(name, bytes));
}

/**
 * makeAdapterCode generates the JavaScript of an adapter with at least minBytes, ending in the statement that `plugin
 * build` appends.
 */
function makeAdapterCode(name: string, minBytes: number): string {
  const adapterHeader = `(()=>{const o=globalThis.__openTabs;(o.adapters??={})[${JSON.stringify(name)}]={name:${JSON.stringify(name)},isReady:()=>true,tools:[{name:"tool_0",input:{parse:(value)=>value},handle:async()=>({items:[]})}]};\n`;
  const sourceLines: string[] = [adapterHeader];
  let bytes = adapterHeader.length;
  for (let i = 0; bytes < minBytes; i++) {
    const line = `function f${i}(a,b){if(a>b){return{kind:"${name}",value:[a,b,${i}]}}return f${i}(b,a+${i})}\n`;
    sourceLines.push(line);
    bytes += line.length;
  }
  const code = `${sourceLines.join('')}})();\n`;
  const hash = createHash('sha256').update(code).digest('hex');
  return `${code}(function(){var o=(globalThis).__openTabs;var a=o.adapters[${JSON.stringify(name)}];a.__adapterHash="${hash}";Object.freeze(a);})();\n`;
}
