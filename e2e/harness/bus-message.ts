/** Encodes and decodes D-Bus messages. */

interface MessageHead {
  /** The field `type` is the D-Bus message type: 1 for a method call, 2 for a reply, 4 for a signal. */
  readonly type: 1 | 2 | 4;
  readonly serial: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly replySerial?: number;
  readonly destination?: string;
}

export class BusWriter {
  readonly #signature: string;
  #bytes: number[] = [];

  constructor(signature: string) {
    this.#signature = signature;
  }

  uint32(value: number): this {
    this.#align(4);
    this.#bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >>> 24) & 255);
    return this;
  }

  string(text: string): this {
    const bytes = Buffer.from(text);
    this.uint32(bytes.length);
    this.#bytes.push(...bytes, 0);
    return this;
  }

  strings(texts: readonly string[]): this {
    const list = new BusWriter('');
    for (const text of texts) list.string(text);
    this.uint32(list.#bytes.length);
    this.#bytes.push(...list.#bytes);
    return this;
  }

  message(head: MessageHead): Buffer {
    const writer = new BusWriter('');
    writer.#bytes.push(0x6c, head.type, 0, 1); // The bytes are: little-endian, type, flags, version.
    writer.uint32(this.#bytes.length).uint32(head.serial);
    const fields = new BusWriter('');
    const addText = (code: number, type: string, text: string | undefined) => {
      if (text === undefined) return;
      fields.#align(8);
      fields.#bytes.push(code, type.length, ...Buffer.from(type), 0);
      if (type === 'g') fields.#bytes.push(text.length, ...Buffer.from(text), 0);
      else fields.string(text);
    };
    addText(1, 'o', head.path);
    addText(2, 's', head.interface);
    addText(3, 's', head.member);
    if (head.replySerial !== undefined) {
      fields.#align(8);
      fields.#bytes.push(5, 1, 'u'.charCodeAt(0), 0);
      fields.uint32(head.replySerial);
    }
    addText(6, 's', head.destination);
    if (this.#signature !== '') addText(8, 'g', this.#signature);
    writer.uint32(fields.#bytes.length);
    writer.#bytes.push(...fields.#bytes);
    writer.#align(8);
    return Buffer.from([...writer.#bytes, ...this.#bytes]);
  }

  #align(size: number): void {
    while (this.#bytes.length % size !== 0) this.#bytes.push(0);
  }
}

/** D-Bus aligns each value relative to the start of the message. */
export class BusReader {
  readonly #data: Buffer;
  #position: number;

  constructor(data: Buffer, position = 0) {
    this.#data = data;
    this.#position = position;
  }

  get position(): number {
    return this.#position;
  }

  align(size: number): void {
    this.#position = Math.ceil(this.#position / size) * size;
  }

  byte(): number {
    return this.#data.readUInt8(this.#position++);
  }

  uint32(): number {
    this.align(4);
    this.#position += 4;
    return this.#data.readUInt32LE(this.#position - 4);
  }

  string(): string {
    return this.#text(this.uint32());
  }

  signature(): string {
    return this.#text(this.byte());
  }

  strings(): string[] {
    const end = this.uint32() + this.#position;
    const texts: string[] = [];
    while (this.#position < end) texts.push(this.string());
    return texts;
  }

  #text(length: number): string {
    this.#position += length + 1;
    return this.#data.toString('utf8', this.#position - length - 1, this.#position - 1);
  }
}

export interface ReceivedCall {
  readonly length: number;
  readonly isCall: boolean;
  readonly serial: number;
  readonly member: string;
  readonly sender: string;
  readonly body: BusReader;
}

/** readCall returns undefined if the first D-Bus message in data is incomplete. */
export function readCall(data: Buffer): ReceivedCall | undefined {
  if (data.length < 16) return undefined;
  const reader = new BusReader(data);
  reader.byte();
  const type = reader.byte();
  reader.byte();
  reader.byte();
  const bodyLength = reader.uint32();
  const serial = reader.uint32();
  const fieldsLength = reader.uint32();
  const bodyStart = Math.ceil((16 + fieldsLength) / 8) * 8;
  if (data.length < bodyStart + bodyLength) return undefined;
  const texts = new Map<number, string>();
  while (reader.position < 16 + fieldsLength) {
    reader.align(8);
    const code = reader.byte();
    const valueType = reader.signature();
    if (valueType === 'u') reader.uint32();
    else texts.set(code, valueType === 'g' ? reader.signature() : reader.string());
  }
  const body = new BusReader(data.subarray(bodyStart, bodyStart + bodyLength));
  return {
    length: bodyStart + bodyLength,
    isCall: type === 1,
    serial,
    member: texts.get(3) ?? '',
    sender: texts.get(7) ?? '',
    body,
  };
}
