import { join, resolve } from 'node:path'
import { build } from 'esbuild'

const dist = resolve(import.meta.dirname, '../dist')

/**
 * The gateway's side as one file, made by the compiler and for the target that the published packages are made with, so that
 * what is measured is what users run, without having to build all packages first. Undici stays outside, as it does for users.
 */
export async function bundleGateway(): Promise<string> {
  const outfile = join(dist, 'gateway.js')
  await build({
    entryPoints: [join(import.meta.dirname, 'children/gateway.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    conditions: ['signalbox-source'],
    external: ['undici'],
  })
  return outfile
}
