// masking.ts masks passwords, tokens and keys in recorded requests, and keeps everything else readable.

const MaskedText = '[masked]';

/**
 * secretNamePattern matches the names of headers, parameters and JSON members whose values are secret, such as
 * "password".
 */
const secretNamePattern =
  /passw(or)?d|passphrase|passcode|^pass$|^pwd$|secret|token|api[-_]?key|^key$|(access|private)[-_]?key|auth(?!or)|credential|signature|^sig$|session|^s?sid$|jwt|csrf|xsrf|^otp$|^pin$|^cv[vc]2?$|card[-_]?num/i;

/** If a URL is longer than MaxUrlCharacters UTF-16 code units, maskUrl masks the rest of the URL. */
const MaxUrlCharacters = 32_768;
/** MaxUrlNesting limits the depth of URLs in the query parameters of other URLs. maskUrl masks deeper URLs. */
const MaxUrlNesting = 5;

const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** isSecretKey reports whether a text is probably a secret key: at least 20 characters, no words, and no UUID. */
function isSecretKey(value: string): boolean {
  if (value.length < 20 || uuidPattern.test(value) || !/^[\w\-+/=.~]+$/.test(value)) return false;
  if (/^[0-9a-f]{32,}$/i.test(value)) return true;
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
}

/** maskWebTokens masks JSON Web Tokens: a part that starts with eyJ, and up to two further parts after dots. */
function maskWebTokens(text: string): string {
  if (!text.includes('eyJ')) return text;
  return text.replace(/[\w.-]+/g, (dottedText) => {
    const parts = dottedText.split('.');
    const maskedParts: string[] = [];
    for (let i = 0; i < parts.length; i++) {
      const part = parts[i] ?? '';
      const tokenStart = (parts[i + 1] ?? '').length < 8 ? -1 : part.search(/\beyJ[\w-]{8}/);
      maskedParts.push(tokenStart < 0 ? part : part.slice(0, tokenStart) + MaskedText);
      if (tokenStart >= 0) i += 2;
    }
    return maskedParts.join('.');
  });
}

function isSecret(name: string, value: string): boolean {
  return value !== '' && (secretNamePattern.test(name) || isSecretKey(value));
}

/**
 * maskUrl masks the password of a URL, and secret values in its query and fragment. The number of steps of maskUrl is
 * proportional to the length of the URL, because a page can request any URL.
 */
export function maskUrl(url: string): string {
  if (url.length <= MaxUrlCharacters) return maskNestedUrl(url, 0);
  // End the shown part of the URL between two parameters or path segments, because maskUrl may not recognize the
  // first half of a secret.
  const startText = url.slice(0, MaxUrlCharacters);
  const delimiters = /[?#]/.test(startText) ? ['?', '&', '#', ';'] : ['/'];
  const shownEnd = Math.max(...delimiters.map((delimiter) => startText.lastIndexOf(delimiter))) + 1;
  return maskNestedUrl(startText.slice(0, shownEnd), 0) + MaskedText;
}

function maskNestedUrl(url: string, nesting: number): string {
  const queryStart = url.search(/[?#]/);
  if (queryStart < 0) return maskBaseUrl(url);
  return maskBaseUrl(url.slice(0, queryStart)) + maskParameters(url.slice(queryStart), nesting);
}

/** maskBaseUrl masks secrets in the part of a URL before the query. */
function maskBaseUrl(baseUrl: string): string {
  const [schemeText] = /^\w+:\/\//.exec(baseUrl) ?? [];
  if (schemeText === undefined) return maskWebTokens(baseUrl);
  const pathStart = baseUrl.indexOf('/', schemeText.length);
  const authority = baseUrl.slice(schemeText.length, pathStart < 0 ? undefined : pathStart);
  const [passwordStart, passwordEnd] = [authority.indexOf(':') + 1, authority.lastIndexOf('@')];
  if (passwordStart === 0 || passwordStart > passwordEnd) return maskWebTokens(baseUrl);
  const hostAndPath = baseUrl.slice(schemeText.length + passwordEnd);
  return `${schemeText}${authority.slice(0, passwordStart)}${MaskedText}${maskWebTokens(hostAndPath)}`;
}

/** maskParameters masks secret values of parameters, which start with the characters ?, &, # and ;. */
function maskParameters(queryAndFragment: string, nesting: number): string {
  return queryAndFragment.replace(/[^&#;]+/g, (parameter) => {
    const valueStart = parameter.indexOf('=') + 1;
    if (valueStart === 0) return maskWebTokens(parameter);
    const [name, value] = [decodePercent(parameter.slice(0, valueStart - 1)), parameter.slice(valueStart)];
    // In "?key=1" and "#/path?key=1", the name of the parameter is "key".
    const shortName = name.slice(name.lastIndexOf('?') + 1);
    const decodedValue = decodePercent(value);
    const isHidden = isSecret(name, decodedValue) || isSecret(shortName, decodedValue);
    return parameter.slice(0, valueStart) + (isHidden ? MaskedText : maskUrlInValue(value, decodedValue, nesting));
  });
}

/** maskUrlInValue masks secrets of a URL in the value of a query parameter, such as ?next=https%3A%2F%2F.... */
function maskUrlInValue(value: string, decodedValue: string, nesting: number): string {
  if (!decodedValue.includes('?') && !decodedValue.includes('#')) return maskWebTokens(value);
  if (nesting === MaxUrlNesting) return MaskedText;
  const maskedUrl = maskNestedUrl(decodedValue, nesting + 1);
  return maskedUrl === decodedValue ? value : maskedUrl;
}

/** maskHeader does not mask the names and attributes of cookies. */
export function maskHeader(name: string, value: string): string {
  const lowerName = name.toLowerCase();
  if (lowerName === 'cookie') return value.replace(/[^;]+/g, maskCookie);
  if (lowerName === 'set-cookie') return value.replace(/[^\n]+/g, (cookie) => cookie.replace(/^[^;]+/, maskCookie));
  if (/authorization$/.test(lowerName))
    return /^\w+ /.test(value) ? `${value.split(' ', 1)[0]} ${MaskedText}` : MaskedText;
  // Headers such as Access-Control-Allow-Headers list the names of other headers, such as "authorization", but no
  // secrets.
  if (/^(sec-fetch|sec-ch|access-control|www-authenticate|proxy-authenticate|content-security)/.test(lowerName))
    return value;
  if (secretNamePattern.test(lowerName)) return MaskedText;
  if (/^(\w+:\/\/|\/)/.test(value)) return maskUrl(value);
  return isSecretKey(value) && lowerName !== 'etag' && !lowerName.startsWith('if-') ? MaskedText : maskWebTokens(value);
}

function maskCookie(cookie: string): string {
  const valueStart = cookie.indexOf('=') + 1;
  return valueStart === 0 ? cookie : cookie.slice(0, valueStart) + MaskedText;
}

/** maskBody masks secret values in the body of a request or response, such as form fields and JSON members. */
export function maskBody(bodyText: string, mediaType: string): string {
  if (mediaType.startsWith('application/x-www-form-urlencoded')) return maskParameters(`?${bodyText}`, 0).slice(1);
  if (mediaType.startsWith('multipart/')) return maskMultipartFields(bodyText);
  return maskWebTokens(maskJsonMembers(bodyText));
}

function maskJsonMembers(bodyText: string): string {
  const memberStartPattern = /"((?:[^"\\]|\\.){1,100})"\s*:\s*(?="|-?\d)/g;
  let maskedText = '';
  let maskedEnd = 0;
  for (;;) {
    const [, name] = memberStartPattern.exec(bodyText) ?? [];
    if (name === undefined) return maskedText + bodyText.slice(maskedEnd);
    const valueStart = memberStartPattern.lastIndex;
    const valueEnd = findJsonValueEnd(bodyText, valueStart);
    memberStartPattern.lastIndex = valueEnd;
    if (!secretNamePattern.test(name) || bodyText.startsWith('""', valueStart)) continue;
    maskedText += `${bodyText.slice(maskedEnd, valueStart)}"${MaskedText}"`;
    maskedEnd = valueEnd;
  }
}

/**
 * findJsonValueEnd returns the end of a JSON string or number. In a truncated body, the last string may have no closing
 * quotation mark. A regular expression for a string of several megabytes would overflow the stack.
 */
function findJsonValueEnd(bodyText: string, valueStart: number): number {
  if (bodyText[valueStart] !== '"') {
    const numberPattern = /-?[\d.]+/y;
    numberPattern.lastIndex = valueStart;
    numberPattern.test(bodyText);
    return numberPattern.lastIndex;
  }
  for (let i = valueStart + 1; i < bodyText.length; i++) {
    if (bodyText[i] === '\\') i++;
    else if (bodyText[i] === '"') return i + 1;
  }
  return bodyText.length;
}

/** maskMultipartFields masks the values of secret form fields. The first line of the body separates the fields. */
function maskMultipartFields(bodyText: string): string {
  const [separatorLine = '--'] = /^--[^\r\n]+/.exec(bodyText) ?? [];
  return bodyText
    .split(`\n${separatorLine}`)
    .map((fieldText) => maskMultipartField(fieldText))
    .join(`\n${separatorLine}`);
}

function maskMultipartField(fieldText: string): string {
  const [emptyLine = ''] = /\r?\n\r?\n/.exec(fieldText) ?? [];
  if (emptyLine === '') return fieldText;
  const valueStart = fieldText.indexOf(emptyLine) + emptyLine.length;
  const valueEnd = fieldText.endsWith('\r') ? fieldText.length - 1 : fieldText.length;
  const value = fieldText.slice(valueStart, Math.max(valueStart, valueEnd));
  const names = [...fieldText.slice(0, valueStart).matchAll(/\bname=(?:"([^"]*)|([^";\r\n]*))/gi)];
  if (!names.some(([, quotedName, name]) => isSecret(quotedName ?? name ?? '', value))) return fieldText;
  return fieldText.slice(0, valueStart) + MaskedText + fieldText.slice(valueStart + value.length);
}

function decodePercent(bodyText: string): string {
  try {
    return decodeURIComponent(bodyText.replaceAll('+', ' '));
  } catch {
    return bodyText;
  }
}
