import type { ConfigSchema } from './config.ts';

// What `opentabs plugin build` writes into dist/tools.json, which is where a platform reads what a plugin has.

/** One tool as dist/tools.json has it. */
export interface ManifestTool {
  name: string;
  displayName: string;
  description: string;
  summary?: string;
  icon: string;
  group?: string;
  annotations?: Record<string, boolean>;
  limits?: Record<string, number>;
  /** JSON Schema of the parameters. */
  input_schema: Record<string, unknown>;
  /** JSON Schema of the result. */
  output_schema: Record<string, unknown>;
}

/** One prompt as dist/tools.json has it. */
export interface ManifestPrompt {
  name: string;
  displayName: string;
  description?: string;
  limits?: Record<string, number>;
  /** JSON Schema of all arguments together. */
  input_schema: Record<string, unknown>;
}

/** dist/tools.json. */
export interface Manifest {
  /** The version of the SDK that built it. */
  sdkVersion?: string;
  /** `document_idle` for a plugin that imports the SDK by the name it has on the existing platform. */
  start?: 'document_start' | 'document_idle';
  configSchema?: ConfigSchema;
  /** The plugin's icon as SVG, and its variants. */
  iconSvg?: string;
  iconInactiveSvg?: string;
  iconDarkSvg?: string;
  iconDarkInactiveSvg?: string;
  /** `pre-script.iife.js`, where there is one. */
  preScriptFile?: string;
  /** SHA-256 of that file, in hex. */
  preScriptHash?: string;
  tools: ManifestTool[];
  prompts?: ManifestPrompt[];
}
