// Types of the part of whatwg-url-minimum that the simulator uses. Constructors convert any value to a text.

export class URL {
  constructor(text: unknown, base?: unknown);
  readonly href: string;
  readonly protocol: string;
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  readonly origin: string;
  pathname: string;
  search: string;
  hash: string;
}

export class URLSearchParams {
  toString(): string;
}
