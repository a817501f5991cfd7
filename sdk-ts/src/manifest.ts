import type { ConfigSchema } from './config.ts';

// `opentabs plugin build` writes dist/tools.json, and the server reads the plugin's tools and prompts from the file.

/** One tool in dist/tools.json. */
export interface ManifestTool {
  name: string;
  displayName: string;
  description: string;
  summary?: string;
  icon: string;
  group?: string;
  annotations?: Record<string, boolean>;
  limits?: Record<string, number>;
  /** The name of the tool that undoes a call of this tool, and where the undo call gets its arguments. */
  undo?: ManifestUndo;
  /** The JSON Schema of the tool's parameters. */
  input_schema: Record<string, unknown>;
  /** The JSON Schema of the tool's result. */
  output_schema: Record<string, unknown>;
}

/** Describes how to undo a tool call: the name of another tool, and JSON Pointers to its arguments. */
export interface ManifestUndo {
  tool: string;
  input?: Record<string, string>;
}

/** One prompt in dist/tools.json. */
export interface ManifestPrompt {
  name: string;
  displayName: string;
  description?: string;
  limits?: Record<string, number>;
  /** The JSON Schema of the prompt's arguments, as one object. */
  input_schema: Record<string, unknown>;
}

/** The contents of dist/tools.json. */
export interface Manifest {
  /** The version of the SDK that built the plugin. */
  sdkVersion?: string;
  /**
   * Defines when the adapter starts in a page. In dist/tools.json, the value is `document_idle` if the plugin imports
   * the SDK under the package name of the original OpenTabs SDK.
   */
  start?: 'document_start' | 'document_idle';
  configSchema?: ConfigSchema;
  /** The plugin's icon as SVG markup. `iconInactiveSvg` and the `Dark` fields are variants of the icon. */
  iconSvg?: string;
  iconInactiveSvg?: string;
  iconDarkSvg?: string;
  iconDarkInactiveSvg?: string;
  /** The file name `pre-script.iife.js`; absent if the plugin has no pre-script. */
  preScriptFile?: string;
  /** The SHA-256 of the pre-script file, in hex. */
  preScriptHash?: string;
  tools: ManifestTool[];
  prompts?: ManifestPrompt[];
}
