import { build } from 'esbuild'
import { expect, test } from 'vitest'
import { markConstants } from '../tools/build/mark-constants.ts'

/** The rest of a module in a bundle that uses one name of it. */
async function left(module: string, name: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${name} } from 'module'` },
    bundle: true,
    write: false,
    format: 'esm',
    plugins: [
      {
        name: 'module',
        setup(hooks) {
          hooks.onResolve({ filter: /^module$/ }, () => ({ path: 'module', namespace: 'given' }))
          hooks.onLoad({ filter: /.*/, namespace: 'given' }, () => ({ contents: module }))
        },
      },
    ],
  })
  return outputFiles[0]?.text ?? ''
}

const module = `
  const table = { ...make(), b: { c: 1 } }
  const names = Object.keys(table).map(name => \`\${name}!\`), size = names.length
  var sum = size + table.b.c
  function make() { return { a: 1 } }
  export const used = [1, 2].map(n => n * 2)
  export { table, names, size, sum }
`

test('unused constants are left out of a bundle, and used ones keep their values', async () => {
  const marked = markConstants(module)
  expect(await left(module, 'used')).toContain('table')
  expect(await left(marked, 'used')).not.toMatch(/table|names|size|make/)
  const { sum, used } = await import(`data:text/javascript,${encodeURIComponent(await left(marked, 'sum, used'))}`)
  expect([sum, used]).toEqual([3, [2, 4]])
})

test('line numbers do not change', () => {
  const spread = 'const a =\n  // Its reason.\n  list()\nconst b = a\n'
  expect(markConstants(spread).split('\n')).toHaveLength(spread.split('\n').length)
  expect(markConstants(spread)).toContain('\n  list()))()\nconst b')
})
