import { defineConfig, type Options } from 'tsup'
import { markConstants } from './mark-constants.ts'

/**
 * How every package is built: ES modules and their types, one file for each entry and what entries share in chunks.
 *
 * @example
 * export default library({ entry: { index: 'src/index.ts' } })
 */
export const library = (options: Options) =>
  defineConfig({
    format: 'esm',
    platform: 'neutral',
    target: 'es2023',
    dts: true,
    clean: true,
    // 'node:sqlite' has no other name, and Workers and Deno want the prefix for all.
    removeNodeProtocol: false,
    sourcemap: true,
    plugins: [
      { name: 'mark-constants', renderChunk: (code, { path }) => (path.endsWith('.map') ? undefined : { code: markConstants(code) }) },
    ],
    ...options,
  })
