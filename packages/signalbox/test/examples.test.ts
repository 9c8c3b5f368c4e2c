import { expect, test } from 'vitest'
import { compileExamples, docExamples } from './blocks/examples.ts'

test('each `@example` of a docstring compiles beside its file; one that names a wrong option or field does not', () => {
  const examples = docExamples()
  expect(examples.length).toBeGreaterThan(100)
  const planted = {
    ...(examples.find(({ place }) => place.startsWith('packages/core/src/options.ts')) as (typeof examples)[number]),
    place: 'planted',
    code: "import { type GatewayOptions } from './options.ts'\nexport const example: GatewayOptions['strategies'] = { thrifty: ({ cost, failure }) => cost }\n",
  }
  const file = planted.file.replace('example-', 'planted-')
  expect(compileExamples([...examples, { ...planted, file }])).toEqual([expect.stringMatching(/^planted: .*failure/)])
})
