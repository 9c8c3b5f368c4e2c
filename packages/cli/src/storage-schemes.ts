/** Options of the field `storage`, beside its address. What each means is in `schema.ts`. */
export const storageOptions = ['durability', 'pool_size', 'schema', 'migrate', 'prepare', 'token', 'spool', 'on_outage'] as const
export type StorageOption = (typeof storageOptions)[number]

/** A kind of storage, by the scheme of its address. How each is opened is in `storage.ts`. */
export interface StorageScheme {
  readonly name: 'memory' | 'sqlite' | 'postgres' | 'libsql'
  readonly begins: RegExp
  /** An address, for messages. */
  readonly example: string
  readonly options: readonly StorageOption[]
  /** `process`: each process has its own. `machine`: one file, beside which its sealing key is kept. `network`: any machine. */
  readonly reach: 'process' | 'machine' | 'network'
}

/** Every kind of storage. */
const storageSchemes: readonly StorageScheme[] = [
  { name: 'memory', begins: /^memory:$/, example: 'memory:', options: [], reach: 'process' },
  { name: 'sqlite', begins: /^sqlite:./, example: 'sqlite:FILE', options: ['durability'], reach: 'machine' },
  {
    name: 'postgres',
    begins: /^postgres(?:ql)?:\/\/./,
    example: 'postgres://USER:PASSWORD@HOST/DATABASE',
    options: ['pool_size', 'schema', 'migrate', 'prepare', 'spool', 'on_outage'],
    reach: 'network',
  },
  { name: 'libsql', begins: /^(?:libsql|https?):\/\/./, example: 'libsql://HOST', options: ['token'], reach: 'network' },
]

/** The kind of storage that has an address; undefined if none has. */
export const schemeOf = (address: string): StorageScheme | undefined => storageSchemes.find(({ begins }) => begins.test(address))

/** What an address can be, for messages. */
export const storageExamples = storageSchemes.map(({ example }) => `\`${example}\``).join(', ')
