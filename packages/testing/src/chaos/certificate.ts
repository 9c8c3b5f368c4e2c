import { generateKeyPairSync, sign } from 'node:crypto'

export interface Certificate {
  /** PEM. */
  readonly key: string
  /** PEM. */
  readonly cert: string
}

const length = (size: number): readonly number[] => {
  if (size < 0x80) return [size]
  return size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff]
}

/** A DER value: tag, length and content. */
const der = (tag: number, ...content: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(content)
  return Buffer.concat([Uint8Array.of(tag, ...length(body.length)), body])
}

const sequence = (...content: readonly Uint8Array[]): Buffer => der(0x30, ...content)
const oid = (...bytes: readonly number[]): Buffer => der(0x06, Uint8Array.from(bytes))
const text = (value: string): Buffer => der(0x0c, Buffer.from(value))
const integer = (value: number): Buffer => der(0x02, Uint8Array.of(value))
const bits = (content: Uint8Array): Buffer => der(0x03, Uint8Array.of(0), content)
/** GeneralizedTime: `YYYYMMDDHHMMSSZ`. */
const time = (date: Date): Buffer => der(0x18, Buffer.from(`${date.toISOString().replaceAll(/[-:T]|\.\d+Z/g, '')}Z`))

const ecdsaWithSha256 = sequence(oid(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02))
const commonName = oid(0x55, 0x04, 0x03)
const subjectAltName = oid(0x55, 0x1d, 0x11)

const pem = (content: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${(content.toString('base64').match(/.{1,64}/g) ?? []).join('\n')}\n-----END CERTIFICATE-----\n`

/** A self-signed certificate, built by hand because Node can read X.509 but not create it, and no test should need openssl. */
export function selfSigned(options: { readonly name: string; readonly from?: Date; readonly to?: Date }): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const who = sequence(der(0x31, sequence(commonName, text(options.name))))
  const day = 86_400_000
  const validity = sequence(time(options.from ?? new Date(Date.now() - day)), time(options.to ?? new Date(Date.now() + day)))
  // 0x82 is a DNS name in the subject alternative names.
  const alternatives = sequence(subjectAltName, der(0x04, sequence(der(0x82, Buffer.from(options.name)))))
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    ecdsaWithSha256,
    who,
    validity,
    who,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(alternatives)),
  )
  const signature = sign('sha256', body, privateKey)
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: pem(sequence(body, ecdsaWithSha256, bits(signature))),
  }
}
