// masking.ts masks passwords, tokens and keys in recorded requests, and keeps everything else readable.

const MaskedText = '[masked]';

/**
 * secretNamePattern matches the names of headers, parameters and JSON members whose values are secret, such as
 * "password".
 */
const secretNamePattern =
  /passw(or)?d|passphrase|passcode|^pass$|^pwd$|secret|token|api[-_]?key|^key$|(access|private)[-_]?key|auth(?!or)|credential|signature|^sig$|session|^s?sid$|jwt|csrf|xsrf|^otp$|^pin$|^cv[vc]2?$|card[-_]?num/i;

const jsonWebTokenPattern = /\beyJ[\w-]{8,}\.[\w-]{8,}(\.[\w-]*)?/g;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** isSecretKey reports whether a text is probably a secret key: at least 20 characters, no words, and no UUID. */
function isSecretKey(value: string): boolean {
  if (value.length < 20 || uuidPattern.test(value) || !/^[\w\-+/=.~]+$/.test(value)) return false;
  if (/^[0-9a-f]{32,}$/i.test(value)) return true;
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value);
}

function isSecret(name: string, value: string): boolean {
  return value !== '' && (secretNamePattern.test(name) || isSecretKey(value));
}

/** maskUrl masks the password of a URL, and secret values in its query and fragment. */
export function maskUrl(url: string): string {
  const queryStart = url.search(/[?#]/);
  const baseUrl = queryStart < 0 ? url : url.slice(0, queryStart);
  const queryAndFragment = queryStart < 0 ? '' : url.slice(queryStart);
  return (
    baseUrl.replace(/^(\w+:\/\/[^/@]*):[^/@]*@/, `$1:${MaskedText}@`).replace(jsonWebTokenPattern, MaskedText) +
    queryAndFragment.replace(
      /([?&#;])([^=&#;]*)=([^&#;]*)/g,
      (_, parameterStart: string, name: string, value: string) => {
        const isHidden = isSecret(decodePercent(name), decodePercent(value));
        return `${parameterStart}${name}=${isHidden ? MaskedText : maskNestedUrl(value)}`;
      },
    )
  );
}

/** maskNestedUrl masks secrets of a URL in the value of a query parameter, such as ?next=https%3A%2F%2F.... */
function maskNestedUrl(value: string): string {
  const decodedValue = decodePercent(value);
  if (!decodedValue.includes('?') && !decodedValue.includes('#')) return value.replace(jsonWebTokenPattern, MaskedText);
  const maskedUrl = maskUrl(decodedValue);
  return maskedUrl === decodedValue ? value : maskedUrl;
}

/** maskHeader does not mask the names and attributes of cookies. */
export function maskHeader(name: string, value: string): string {
  const lowerName = name.toLowerCase();
  if (lowerName === 'cookie') return value.replace(/([^=;\s]+)=[^;]*/g, `$1=${MaskedText}`);
  if (lowerName === 'set-cookie')
    return value.replace(/^([^=;]*)=[^;\n]*/gm, (_, cookie: string) => `${cookie}=${MaskedText}`);
  if (/authorization$/.test(lowerName))
    return /^\w+ /.test(value) ? `${value.split(' ', 1)[0]} ${MaskedText}` : MaskedText;
  // Headers such as Access-Control-Allow-Headers list the names of other headers, such as "authorization", but no
  // secrets.
  if (/^(sec-fetch|sec-ch|access-control|www-authenticate|proxy-authenticate|content-security)/.test(lowerName))
    return value;
  if (secretNamePattern.test(lowerName)) return MaskedText;
  if (/^(\w+:\/\/|\/)/.test(value)) return maskUrl(value);
  return isSecretKey(value) && lowerName !== 'etag' && !lowerName.startsWith('if-')
    ? MaskedText
    : value.replace(jsonWebTokenPattern, MaskedText);
}

/** maskBody masks secret values in the body of a request or response, such as form fields and JSON members. */
export function maskBody(bodyText: string, mediaType: string): string {
  if (mediaType.startsWith('application/x-www-form-urlencoded')) return maskUrl(`?${bodyText}`).slice(1);
  if (mediaType.startsWith('multipart/')) return maskMultipartFields(bodyText);
  return bodyText
    .replace(
      /"((?:[^"\\]|\\.){1,100})"(\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d[\d.]*)/g,
      (member: string, name: string, colon: string, value: string) =>
        value !== '""' && secretNamePattern.test(name) ? `"${name}"${colon}"${MaskedText}"` : member,
    )
    .replace(jsonWebTokenPattern, MaskedText);
}

function maskMultipartFields(bodyText: string): string {
  return bodyText.replace(
    /(content-disposition:[^\r\n]*\bname="([^"]*)"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n)([\s\S]*?)(?=\r?\n--)/gi,
    (part: string, partHead: string, name: string, value: string) =>
      isSecret(name, value) ? `${partHead}${MaskedText}` : part,
  );
}

function decodePercent(bodyText: string): string {
  try {
    return decodeURIComponent(bodyText.replaceAll('+', ' '));
  } catch {
    return bodyText;
  }
}
