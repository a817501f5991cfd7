/** On `globalThis`, a page could replace zod's configuration and registry, so the build makes zod use zodGlobal. */
export const zodGlobal: Record<string, unknown> = {};
