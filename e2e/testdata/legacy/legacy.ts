/** Writes plugin packages in the format of the original OpenTabs SDK, for plugins in plain JavaScript. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** LegacyPlugin is the source of a plugin. */
export interface LegacyPlugin {
  readonly name: string;
  readonly urlPatterns: readonly string[];
  readonly configSchema?: object;
  /** The field `start` is the value of opentabs.start in package.json. */
  readonly start?: string;
  /**
   * The field `source` is a module whose default export is the plugin's instance; the module may import zod and
   * @opentabs-dev/plugin-sdk.
   */
  readonly source: string;
  /** preScript is a module that calls definePreScript of @opentabs-dev/plugin-sdk/pre-script. */
  readonly preScript?: string;
}

const legacyFolder = fileURLToPath(new URL('.', import.meta.url));

/** buildLegacyPlugin writes the package of a plugin into dir: package.json, dist/tools.json and the scripts. */
export async function buildLegacyPlugin(pluginFolder: string, plugin: LegacyPlugin): Promise<void> {
  mkdirSync(join(pluginFolder, 'dist'), { recursive: true });
  const writeDistFile = (name: string, text: string) => writeFileSync(join(pluginFolder, 'dist', name), text);
  const { name, urlPatterns, configSchema, start } = plugin;
  const manifestFields = { displayName: name, description: `The plugin ${name}.`, urlPatterns, configSchema, start };
  const packageFields = { name: `opentabs-plugin-${name}`, version: '1.0.0', type: 'module', main: 'dist/adapter.iife.js' };
  writeFileSync(join(pluginFolder, 'package.json'), JSON.stringify({ ...packageFields, files: ['dist'], opentabs: manifestFields }));
  const adapter = await bundlePlugin(
    plugin,
    `import '@opentabs-dev/plugin-sdk'; import { install } from 'legacy:wrapper'; import plugin from 'legacy:plugin';
     install(${JSON.stringify(name)}, plugin);`,
  );
  writeDistFile('adapter.iife.js', `${adapter}${makeLockingCode(name, sha256(adapter))}\n//# sourceMappingURL=adapter.iife.js.map\n`);
  const preScriptCode = plugin.preScript === undefined ? undefined : await bundlePlugin(plugin, "import 'legacy:pre-script';");
  if (preScriptCode !== undefined) writeDistFile('pre-script.iife.js', preScriptCode);
  const preScript = preScriptCode === undefined ? {} : { preScriptFile: 'pre-script.iife.js', preScriptHash: sha256(preScriptCode) };
  writeDistFile('tools.json', JSON.stringify({ sdkVersion: '0.0.115', configSchema, ...preScript, tools: await extractTools(plugin) }));
}

/**
 * makeLockingCode returns the code at the end of every adapter, which stores its hash and makes the registered adapter
 * read-only.
 */
function makeLockingCode(name: string, hash: string): string {
  const key = JSON.stringify(name);
  return `(function(){var o=(globalThis).__openTabs;var a=o&&o.adapters&&o.adapters[${key}];if(!a)return;
a.__adapterHash="${hash}";if(a.tools){a.tools.forEach(function(t){Object.freeze(t)});Object.freeze(a.tools)}Object.freeze(a);
Object.defineProperty(o.adapters,${key},{value:a,writable:false,configurable:false,enumerable:true});
Object.defineProperty(o,"adapters",{value:o.adapters,writable:false,configurable:false,enumerable:true})})();`;
}

/** extractTools runs the plugin's module, as the build of the original OpenTabs SDK does, and returns the tools for dist/tools.json. */
async function extractTools(plugin: LegacyPlugin): Promise<unknown> {
  const listingCode = `import { z } from 'zod'; import plugin from 'legacy:plugin';
    const schema = (type) => { const { $schema, ...rest } = z.toJSONSchema(type); return rest; };
    export default plugin.tools.map(({ name, description, input, output }) => ({
      name, displayName: name, description, icon: 'wrench', input_schema: schema(input), output_schema: schema(output) }));`;
  const code = await bundlePlugin(plugin, listingCode, 'esm');
  const module: { default: unknown } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return module.default;
}

async function bundlePlugin(plugin: LegacyPlugin, entryCode: string, bundleFormat: 'iife' | 'esm' = 'iife'): Promise<string> {
  const moduleSources: Record<string, string> = {
    'legacy:plugin': plugin.source,
    // The module legacy:runner is imported first, because the imports of a module run before its other code.
    'legacy:pre-script': `import 'legacy:runner'; import 'legacy:pre-source';`,
    'legacy:runner': `import { prepare } from 'legacy:pre'; prepare(${JSON.stringify(plugin.name)});`,
    'legacy:pre-source': plugin.preScript ?? '',
  };
  const files: Record<string, string> = {
    '@opentabs-dev/plugin-sdk': 'sdk.js',
    '@opentabs-dev/plugin-sdk/pre-script': 'prescript.js',
    'legacy:pre': 'prescript.js',
    'legacy:wrapper': 'wrapper.js',
  };
  const buildResult = await build({
    stdin: { contents: entryCode, resolveDir: legacyFolder, loader: 'js' },
    bundle: true,
    write: false,
    format: bundleFormat,
    platform: 'browser',
    banner: bundleFormat === 'iife' ? { js: '"use strict";' } : {},
    logLevel: 'silent',
    plugins: [
      {
        name: 'legacy',
        setup(esbuildSetup) {
          esbuildSetup.onResolve({ filter: /^(legacy:|@opentabs-dev\/)/ }, ({ path }) => {
            const file = files[path];
            return file === undefined ? { path, namespace: 'legacy' } : { path: join(legacyFolder, file) };
          });
          esbuildSetup.onLoad({ filter: /.*/, namespace: 'legacy' }, ({ path }) => ({
            contents: moduleSources[path] ?? '',
            resolveDir: legacyFolder,
          }));
        },
      },
    ],
  });
  return buildResult.outputFiles[0]?.text ?? '';
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
