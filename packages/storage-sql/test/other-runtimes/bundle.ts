import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'

/**
 * A program of this folder as one module, over the sources, with the few functions of vitest that run anywhere. Fails if something
 * needs a module of Node, unless `options` let it stay outside.
 */
export async function bundleTests(entry: string, options: BuildOptions = {}): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, entry)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2023',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['signalbox-source', 'import', 'default'],
    alias: {
      vitest: join(import.meta.dirname, 'vitest.ts'),
      '@signalbox/testing/storage': join(import.meta.dirname, '../../../testing/src/storage/index.ts'),
    },
    ...options,
  })
  return outputFiles?.[0]?.text ?? ''
}
