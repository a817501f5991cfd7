/** Encodes and decodes D-Bus messages. */

interface MessageHeader {
  /** The field `type` is the D-Bus message type: 1 for a method call, 2 for a reply, 4 for a signal. */
  readonly type: 1 | 2 | 4;
  readonly serialNumber: number;
  readonly path?: string;
  readonly interface?: string;
  readonly member?: string;
  readonly replySerial?: number;
  readonly destination?: string;
}

export class DBusWriter {
  readonly #signature: string;
  #bytes: number[] = [];

  constructor(signature: string) {
    this.#signature = signature;
  }

  writeUint32(value: number): this {
    this.#align(4);
    this.#bytes.push(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >>> 24) & 255);
    return this;
  }

  writeString(stringValue: string): this {
    const bytes = Buffer.from(stringValue);
    this.writeUint32(bytes.length);
    this.#bytes.push(...bytes, 0);
    return this;
  }

  writeStrings(stringItems: readonly string[]): this {
    const listWriter = new DBusWriter('');
    for (const stringValue of stringItems) listWriter.writeString(stringValue);
    this.writeUint32(listWriter.#bytes.length);
    this.#bytes.push(...listWriter.#bytes);
    return this;
  }

  message(messageHeader: MessageHeader): Buffer {
    const messageWriter = new DBusWriter('');
    messageWriter.#bytes.push(0x6c, messageHeader.type, 0, 1); // little-endian, type, flags, version
    messageWriter.writeUint32(this.#bytes.length).writeUint32(messageHeader.serialNumber);
    const headerFields = new DBusWriter('');
    const addHeaderField = (code: number, type: string, stringValue: string | undefined) => {
      if (stringValue === undefined) return;
      headerFields.#align(8);
      headerFields.#bytes.push(code, type.length, ...Buffer.from(type), 0);
      if (type === 'g') headerFields.#bytes.push(stringValue.length, ...Buffer.from(stringValue), 0);
      else headerFields.writeString(stringValue);
    };
    addHeaderField(1, 'o', messageHeader.path);
    addHeaderField(2, 's', messageHeader.interface);
    addHeaderField(3, 's', messageHeader.member);
    if (messageHeader.replySerial !== undefined) {
      headerFields.#align(8);
      headerFields.#bytes.push(5, 1, 'u'.charCodeAt(0), 0);
      headerFields.writeUint32(messageHeader.replySerial);
    }
    addHeaderField(6, 's', messageHeader.destination);
    if (this.#signature !== '') addHeaderField(8, 'g', this.#signature);
    messageWriter.writeUint32(headerFields.#bytes.length);
    messageWriter.#bytes.push(...headerFields.#bytes);
    messageWriter.#align(8);
    return Buffer.from([...messageWriter.#bytes, ...this.#bytes]);
  }

  #align(size: number): void {
    while (this.#bytes.length % size !== 0) this.#bytes.push(0);
  }
}

/** D-Bus aligns each value relative to the start of the message. */
export class DBusReader {
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

  readUint32(): number {
    this.align(4);
    this.#position += 4;
    return this.#data.readUInt32LE(this.#position - 4);
  }

  readString(): string {
    return this.#readText(this.readUint32());
  }

  signature(): string {
    return this.#readText(this.byte());
  }

  readStrings(): string[] {
    const stringEndPosition = this.readUint32() + this.#position;
    const stringItems: string[] = [];
    while (this.#position < stringEndPosition) stringItems.push(this.readString());
    return stringItems;
  }

  #readText(textLength: number): string {
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
  readonly bodyReader: DBusReader;
}

/** readCall returns undefined if the first D-Bus message in data is incomplete. */
export function readCall(messageData: Buffer): ReceivedCall | undefined {
  if (messageData.length < 16) return undefined;
  const headerReader = new DBusReader(messageData);
  headerReader.byte();
  const type = headerReader.byte();
  headerReader.byte();
  headerReader.byte();
  const bodyLength = headerReader.readUint32();
  const serialNumber = headerReader.readUint32();
  const headerFieldsLength = headerReader.readUint32();
  const bodyStartBytes = Math.ceil((16 + headerFieldsLength) / 8) * 8;
  if (messageData.length < bodyStartBytes + bodyLength) return undefined;
  const stringValuesByPosition = new Map<number, string>();
  while (headerReader.position < 16 + headerFieldsLength) {
    headerReader.align(8);
    const code = headerReader.byte();
    const valueType = headerReader.signature();
    if (valueType === 'u') headerReader.readUint32();
    else stringValuesByPosition.set(code, valueType === 'g' ? headerReader.signature() : headerReader.readString());
  }
  const bodyReader = new DBusReader(messageData.subarray(bodyStartBytes, bodyStartBytes + bodyLength));
  return {
    length: bodyStartBytes + bodyLength,
    isCall: type === 1,
    serialNumber,
    member: stringValuesByPosition.get(3) ?? '',
    sender: stringValuesByPosition.get(7) ?? '',
    bodyReader,
  };
}
