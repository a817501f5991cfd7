/** Encodes and decodes D-Bus messages. */

interface MessageHead {
  /** The field `type` is the D-Bus message type: 1 for a method call, 2 for a reply, 4 for a signal. */
  readonly type: 1 | 2 | 4;
  readonly serialNumber: number;
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

  string(stringValue: string): this {
    const bytes = Buffer.from(stringValue);
    this.uint32(bytes.length);
    this.#bytes.push(...bytes, 0);
    return this;
  }

  strings(stringArguments: readonly string[]): this {
    const listWriter = new BusWriter('');
    for (const stringValue of stringArguments) listWriter.string(stringValue);
    this.uint32(listWriter.#bytes.length);
    this.#bytes.push(...listWriter.#bytes);
    return this;
  }

  message(messageHead: MessageHead): Buffer {
    const messageWriter = new BusWriter('');
    messageWriter.#bytes.push(0x6c, messageHead.type, 0, 1); // little-endian, type, flags, version
    messageWriter.uint32(this.#bytes.length).uint32(messageHead.serialNumber);
    const headerFields = new BusWriter('');
    const addHeaderText = (code: number, type: string, stringValue: string | undefined) => {
      if (stringValue === undefined) return;
      headerFields.#align(8);
      headerFields.#bytes.push(code, type.length, ...Buffer.from(type), 0);
      if (type === 'g') headerFields.#bytes.push(stringValue.length, ...Buffer.from(stringValue), 0);
      else headerFields.string(stringValue);
    };
    addHeaderText(1, 'o', messageHead.path);
    addHeaderText(2, 's', messageHead.interface);
    addHeaderText(3, 's', messageHead.member);
    if (messageHead.replySerial !== undefined) {
      headerFields.#align(8);
      headerFields.#bytes.push(5, 1, 'u'.charCodeAt(0), 0);
      headerFields.uint32(messageHead.replySerial);
    }
    addHeaderText(6, 's', messageHead.destination);
    if (this.#signature !== '') addHeaderText(8, 'g', this.#signature);
    messageWriter.uint32(headerFields.#bytes.length);
    messageWriter.#bytes.push(...headerFields.#bytes);
    messageWriter.#align(8);
    return Buffer.from([...messageWriter.#bytes, ...this.#bytes]);
  }

  #align(size: number): void {
    while (this.#bytes.length % size !== 0) this.#bytes.push(0);
  }
}

/** D-Bus aligns each value relative to the start of the message. */
export class BusReader {
  readonly #data: Buffer;
  #position: number;

  constructor(messageData: Buffer, position = 0) {
    this.#data = messageData;
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
    const stringEndPosition = this.uint32() + this.#position;
    const stringArguments: string[] = [];
    while (this.#position < stringEndPosition) stringArguments.push(this.string());
    return stringArguments;
  }

  #text(textLength: number): string {
    this.#position += textLength + 1;
    return this.#data.toString('utf8', this.#position - textLength - 1, this.#position - 1);
  }
}

export interface ReceivedCall {
  readonly length: number;
  readonly isCall: boolean;
  readonly serialNumber: number;
  readonly member: string;
  readonly sender: string;
  readonly bodyReader: BusReader;
}

/** readCall returns undefined if the first D-Bus message in data is incomplete. */
export function readCall(messageData: Buffer): ReceivedCall | undefined {
  if (messageData.length < 16) return undefined;
  const headerReader = new BusReader(messageData);
  headerReader.byte();
  const type = headerReader.byte();
  headerReader.byte();
  headerReader.byte();
  const bodyLength = headerReader.uint32();
  const serialNumber = headerReader.uint32();
  const fieldsLength = headerReader.uint32();
  const bodyStartBytes = Math.ceil((16 + fieldsLength) / 8) * 8;
  if (messageData.length < bodyStartBytes + bodyLength) return undefined;
  const stringArguments = new Map<number, string>();
  while (headerReader.position < 16 + fieldsLength) {
    headerReader.align(8);
    const code = headerReader.byte();
    const valueType = headerReader.signature();
    if (valueType === 'u') headerReader.uint32();
    else stringArguments.set(code, valueType === 'g' ? headerReader.signature() : headerReader.string());
  }
  const bodyReader = new BusReader(messageData.subarray(bodyStartBytes, bodyStartBytes + bodyLength));
  return {
    length: bodyStartBytes + bodyLength,
    isCall: type === 1,
    serialNumber,
    member: stringArguments.get(3) ?? '',
    sender: stringArguments.get(7) ?? '',
    bodyReader,
  };
}
