/** Options of the field `storage`, in addition to its URL. `schema.ts` describes them. */
export const storageOptions = ['durability', 'pool_size', 'schema', 'migrate', 'prepare', 'token', 'spool', 'on_outage'] as const
export type StorageOption = (typeof storageOptions)[number]

/** A kind of storage, by URL scheme. `storage.ts` defines how each is opened. */
export interface StorageScheme {
  readonly name: 'memory' | 'sqlite' | 'postgres' | 'libsql'
  readonly begins: RegExp
  /** An example URL, for messages. */
  readonly example: string
  readonly options: readonly StorageOption[]
  /** `process`: each process has its own. `machine`: one file, with its sealing key next to it. `network`: any machine. */
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

/** The kind of storage of a URL; undefined if unknown. */
export const schemeOf = (address: string): StorageScheme | undefined => storageSchemes.find(({ begins }) => begins.test(address))

/** Example URLs, for messages. */
export const storageExamples = storageSchemes.map(({ example }) => `\`${example}\``).join(', ')
