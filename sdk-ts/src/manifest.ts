import type { ConfigSchema } from './config.ts';

// The format of dist/tools.json. `opentabs plugin build` writes tools.json, and the server reads the tools and prompts
// of the plugin from tools.json.

/** A tool in dist/tools.json. */
export interface ManifestTool {
  name: string;
  displayName: string;
  description: string;
  summary?: string;
  icon: string;
  group?: string;
  annotations?: Record<string, boolean>;
  limits?: Record<string, number>;
  /** How a call of the tool is undone. */
  undo?: ManifestUndo;
  /** The JSON Schema of the tool's parameters. */
  input_schema: Record<string, unknown>;
  /** The JSON Schema of the tool's result. */
  output_schema: Record<string, unknown>;
}

/** How a call of a tool is undone: the name of another tool, and JSON Pointers to its arguments. */
export interface ManifestUndo {
  tool: string;
  input?: Record<string, string>;
}

/** A prompt in dist/tools.json. */
export interface ManifestPrompt {
  name: string;
  displayName: string;
  description?: string;
  limits?: Record<string, number>;
  /** The JSON Schema of the object with all arguments of the prompt. */
  input_schema: Record<string, unknown>;
}

/** The contents of dist/tools.json. */
export interface Manifest {
  /** The version of the SDK that built the plugin. */
  sdkVersion?: string;
  /**
   * The time when the adapter loads: `document_idle` for a plugin that imports the SDK by its original OpenTabs name.
   */
  start?: 'document_start' | 'document_idle';
  configSchema?: ConfigSchema;
  /** The plugin's icon as SVG. The fields with Inactive and Dark in their names are variants of the plugin's icon. */
  iconSvg?: string;
  iconInactiveSvg?: string;
  iconDarkSvg?: string;
  iconDarkInactiveSvg?: string;
  /** The file name `pre-script.iife.js` if the plugin has a pre-script. */
  preScriptFile?: string;
  /** The SHA-256 of the pre-script file, in hex. */
  preScriptHash?: string;
  tools: ManifestTool[];
  prompts?: ManifestPrompt[];
}
