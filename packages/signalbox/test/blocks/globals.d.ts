import type { Setting } from './setting.ts'

// Names that blocks use without importing them.

declare global {
  const gateway: Setting['gateway']
  const providers: Setting['providers']
  const models: Setting['models']
  const storage: Setting['storage']
  const secret: Setting['secret']
  const overrides: Setting['overrides']
  const corrections: Setting['corrections']
  const router: Setting['router']
  const client: Setting['client']
  const id: Setting['id']
  const signal: Setting['signal']
  const readFile: Setting['readFile']
  const writeFile: Setting['writeFile']
  const render: Setting['render']
  const readSession: Setting['readSession']
  const Bun: { serve(options: object): unknown }
  const Deno: { serve(...options: readonly unknown[]): unknown }
}
