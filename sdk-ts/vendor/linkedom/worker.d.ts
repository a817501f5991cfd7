// Types of the part of linkedom that the simulator uses; the package's own describe every class of the DOM.

/** Parses a document and returns its window, whose members are asked for by name. */
export function parseHTML(html: string): Readonly<Record<string, unknown>>;
