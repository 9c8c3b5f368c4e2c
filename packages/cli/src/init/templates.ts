// The files of apps with a gateway in them, word for word as the pages of docs/getting-started have them; a test compares.

const gateway = `// gateway.ts
import { createGateway } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'
import { sqliteStorage } from 'signalbox/sqlite'

const { OPENAI_API_KEY, GATEWAY_KEY: secret, SEALING_KEY } = process.env

export const gateway = createGateway({
  // Without a key OpenAI is off, and the simulated provider answers offline.
  providers: [openai({ apiKey: OPENAI_API_KEY }), simulated({ id: 'sim' })],
  models: [
    {
      id: 'small',
      offers: [
        {
          provider: 'openai',
          model: 'gpt-6.1-terra',
          api: 'responses',
          price: { input: 1_000_000, output: 5_000_000 }, // microdollars per million tokens
        },
        { provider: 'sim', model: 'story', api: 'chat', price: { input: 0, output: 0 } },
      ],
    },
  ],
  strategy: 'order', // Without it, the offer with the best expected cost and latency is first.
  storage: sqliteStorage('signalbox.db'),
  sealingKey: SEALING_KEY, // \`openssl rand -hex 32\`, kept for good
  async setup({ workspaces }) {
    // Runs once in each process. What exists already stays as it is.
    await workspaces.create({ id: 'my-app', name: 'My app', billing: 'postpaid' })
    await workspaces('my-app').apiKeys.create({ name: 'backend', secret })
  },
})
`

const nodeServer = `// server.ts
import { serve } from 'signalbox/node'
import { gateway } from './gateway.ts'

await serve(gateway, { port: 8787 })
`

const honoServer = `// server.ts
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { toHonoHandler } from 'signalbox/hono'
import { gateway } from './gateway.ts'

const app = new Hono()
app.get('/', context => context.text('An app with a gateway in it.'))
app.all('/llm/*', toHonoHandler(gateway))

await gateway.ready() // Ends the start if \`setup\` fails.
serve({ fetch: app.fetch, port: 8787 })
`

const toBunServer = `// server.ts
import { toBunServer } from 'signalbox/bun'
import { gateway } from './gateway.ts'

await gateway.ready() // Ends the start if \`setup\` fails.
Bun.serve({ port: 8787, ...toBunServer(gateway) })
`

const nextRoute = `// app/api/[...path]/route.ts
import { toNextJsHandler } from 'signalbox/next'
import { gateway } from '@/gateway'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNextJsHandler(gateway)
`

const nextPaths = `// tsconfig.json
{ "compilerOptions": { "strict": true, "paths": { "@/*": ["./*"] } } }
`

const worker = `// src/index.ts
import { createGateway } from 'signalbox'
import { openai, simulated } from 'signalbox/providers'
import { type ObjectNamespace, toWorkersHandler, workersStorage } from 'signalbox/workers'

export { StorageObject } from 'signalbox/workers'

interface Env {
  readonly STORAGE: ObjectNamespace
  readonly GATEWAY_KEY: string
  readonly OPENAI_API_KEY?: string
  readonly SEALING_KEY?: string
}

export default toWorkersHandler((env: Env) =>
  createGateway({
    // Without a key OpenAI is off, and the simulated provider answers offline.
    providers: [openai({ apiKey: env.OPENAI_API_KEY }), simulated({ id: 'sim' })],
    models: [
      {
        id: 'small',
        offers: [
          {
            provider: 'openai',
            model: 'gpt-6.1-terra',
            api: 'responses',
            price: { input: 1_000_000, output: 5_000_000 }, // microdollars per million tokens
          },
          { provider: 'sim', model: 'story', api: 'chat', price: { input: 0, output: 0 } },
        ],
      },
    ],
    strategy: 'order', // Without it, the offer with the best expected cost and latency is first.
    storage: workersStorage({ objects: env.STORAGE }),
    sealingKey: env.SEALING_KEY,
    async setup({ workspaces }) {
      // Runs once in each isolate. What exists already stays as it is.
      await workspaces.create({ id: 'my-app', name: 'My app', billing: 'postpaid' })
      await workspaces('my-app').apiKeys.create({ name: 'backend', secret: env.GATEWAY_KEY })
    },
  }),
)
`

const wranglerConfig = `// wrangler.jsonc
{
  "name": "my-gateway",
  "main": "src/index.ts",
  "compatibility_date": "2025-09-01",
  "compatibility_flags": ["nodejs_compat", "enable_request_signal"],
  "durable_objects": { "bindings": [{ "name": "STORAGE", "class_name": "StorageObject" }] },
  "migrations": [{ "tag": "v1", "new_sqlite_classes": ["StorageObject"] }]
}
`

/** An app that `signalbox init` writes. */
export interface AppTemplate {
  /** What a person calls it. */
  readonly label: string
  /** Texts by path below the folder of the app. */
  readonly files: Readonly<Record<string, string>>
  /** Packages beside `signalbox`, as `npm install` takes them. */
  readonly packages: readonly string[]
  readonly devPackages: readonly string[]
  /** The file of variables that the app reads at its start. */
  readonly keyFile: '.env' | '.dev.vars'
  /** The command that starts it. */
  readonly start: string
  /** Where the gateway is once it has started. */
  readonly url: string
}

/** The apps by the value of `--for`. */
export const templates = {
  node: {
    label: 'Node',
    files: { 'gateway.ts': gateway, 'server.ts': nodeServer },
    packages: [],
    devPackages: [],
    keyFile: '.env',
    start: 'node --env-file=.env server.ts',
    url: 'http://127.0.0.1:8787',
  },
  next: {
    label: 'Next.js',
    files: { 'gateway.ts': gateway, 'app/api/[...path]/route.ts': nextRoute, 'tsconfig.json': nextPaths },
    packages: ['next', 'react', 'react-dom'],
    devPackages: ['typescript', '@types/node', '@types/react'],
    keyFile: '.env',
    start: 'next dev',
    url: 'http://127.0.0.1:3000/api',
  },
  hono: {
    label: 'Hono, on Node',
    files: { 'gateway.ts': gateway, 'server.ts': honoServer },
    packages: ['hono', '@hono/node-server'],
    devPackages: [],
    keyFile: '.env',
    start: 'node --env-file=.env server.ts',
    url: 'http://127.0.0.1:8787/llm',
  },
  bun: {
    label: 'Bun',
    files: { 'gateway.ts': gateway, 'server.ts': toBunServer },
    packages: [],
    devPackages: [],
    keyFile: '.env',
    start: 'bun server.ts',
    url: 'http://127.0.0.1:8787',
  },
  workers: {
    label: 'Cloudflare Workers',
    files: { 'src/index.ts': worker, 'wrangler.jsonc': wranglerConfig },
    packages: [],
    devPackages: ['wrangler'],
    keyFile: '.dev.vars',
    start: 'wrangler dev',
    url: 'http://127.0.0.1:8787',
  },
} as const satisfies Readonly<Record<string, AppTemplate>>

export type AppName = keyof typeof templates
