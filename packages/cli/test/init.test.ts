import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { runInit } from '../src/init/init.ts'
import { type AppName, templates } from '../src/init/templates.ts'
import { newFolder } from './launch.ts'

const names = Object.keys(templates) as readonly AppName[]

async function init(cwd: string, ...args: readonly string[]): Promise<string> {
  const lines: string[] = []
  await runInit(args, { cwd, spec: 'signalbox', print: line => void lines.push(line), ask: undefined })
  return lines.join('\n')
}

const read = (folder: string, file: string): string => readFileSync(join(folder, file), 'utf8')

/** What a page says before its second heading. */
const pageOf = (name: AppName): string => {
  const [first = ''] = readFileSync(resolve(import.meta.dirname, `../../../docs/getting-started/${name}.md`), 'utf8').split('\n## ')
  return first
}

test.each(names)('the files of %s are those of its page, word for word', name => {
  const blocks = [...pageOf(name).matchAll(/^```(?:ts|jsonc)\n(\/\/ (\S+)[\s\S]*?)^```$/gm)]
  expect(Object.fromEntries(blocks.map(([, text, file]) => [file, text]))).toEqual(templates[name].files)
})

test.each(names)('the packages and the address of %s are those of its page', name => {
  const { packages, devPackages, url } = templates[name]
  const [, install = ''] = /^npm install \S+(.*)$/m.exec(pageOf(name)) ?? []
  const [, installDev = ''] = /^npm install --save-dev (.*)$/m.exec(pageOf(name)) ?? []
  expect({ packages: install.trim(), devPackages: installDev }).toEqual({
    packages: packages.join(' '),
    devPackages: devPackages.join(' '),
  })
  expect(pageOf(name)).toContain(`curl -N ${url}/v1/responses`)
})

test.each(names)('%s: an empty folder gets a whole app with a new key, and the commands that start it', async name => {
  const cwd = newFolder()
  const said = await init(cwd, 'My App', '--for', name)
  const { files, keyFile, start, packages, devPackages } = templates[name]
  const folder = join(cwd, 'My App')
  for (const [file, text] of Object.entries(files)) expect(read(folder, file)).toBe(text)
  expect(JSON.parse(read(folder, 'package.json'))).toEqual({ name: 'my-app', private: true, type: 'module', scripts: { start } })
  const [, key = ''] = /^GATEWAY_KEY=(ak_[0-9a-f]{32})\n$/.exec(read(folder, keyFile)) ?? []
  expect(said).toContain(`"Authorization: Bearer ${key}"`)
  expect(read(folder, '.gitignore').split('\n')).toContain(keyFile)
  expect(said).toContain(`cd 'My App'\nnpm install ${['signalbox', ...packages].join(' ')}\n`)
  if (devPackages.length > 0) expect(said).toContain(`npm install --save-dev ${devPackages.join(' ')}\n`)
  for (const file of [...Object.keys(files), keyFile, '.gitignore', 'package.json']) expect(said).toContain(`wrote: ${file}`)
})

test('a key that the shell exports is the key of the app, unless its file has one', async () => {
  const folder = newFolder()
  const context = { cwd: folder, spec: 'signalbox', print: () => {}, ask: undefined }
  await runInit(['--for', 'node'], { ...context, key: 'ak_of-the-shell' })
  expect(read(folder, '.env')).toBe('GATEWAY_KEY=ak_of-the-shell\n')
  await runInit(['--for', 'node'], { ...context, key: 'ak_another' })
  expect(read(folder, '.env')).toBe('GATEWAY_KEY=ak_of-the-shell\n')
})

test('a second time nothing changes, and the key stays', async () => {
  const folder = newFolder()
  await init(folder, '--for', 'node')
  const key = read(folder, '.env')
  const said = await init(folder, '--for', 'node')
  expect(read(folder, '.env')).toBe(key)
  expect(said.match(/^unchanged: /gm)).toHaveLength(5)
  expect(said).not.toMatch(/^(wrote|changed|kept): /m)
})

test('a file with another text is kept, and named, unless --force is given', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'gateway.ts'), 'mine')
  expect(await init(folder, '--for', 'node')).toContain('kept: gateway.ts, which has another text. --force replaces it.')
  expect(read(folder, 'gateway.ts')).toBe('mine')
  expect(await init(folder, '--for', 'node', '--force')).toContain('changed: gateway.ts')
  expect(read(folder, 'gateway.ts')).toBe(templates.node.files['gateway.ts'])
})

test('variables and ignored files of the app stay, and get one line more each', async () => {
  const folder = newFolder()
  writeFileSync(join(folder, '.env'), 'OPENAI_API_KEY=sk-mine')
  writeFileSync(join(folder, '.gitignore'), 'dist\n')
  expect(await init(folder, '--for', 'bun')).toMatch(/^changed: \.env\nchanged: \.gitignore$/m)
  expect(read(folder, '.env')).toMatch(/^OPENAI_API_KEY=sk-mine\nGATEWAY_KEY=ak_[0-9a-f]{32}\n$/)
  expect(read(folder, '.gitignore')).toBe('dist\n.env\n')
})

test('the package.json of an app stays, and the commands say what it lacks', async () => {
  const folder = newFolder()
  const manifest = JSON.stringify({ type: 'commonjs', dependencies: { signalbox: 'file:x.tgz', hono: '^4' } })
  writeFileSync(join(folder, 'package.json'), manifest)
  const said = await init(folder, '--for', 'hono')
  expect(read(folder, 'package.json')).toBe(manifest)
  expect(said).toContain('\n\nnpm pkg set type=module\nnpm install @hono/node-server\nnode --env-file=.env server.ts\n\n')
})

test.each([
  [[], '`signalbox init` needs `--for`, one of node, next, hono, bun, workers.'],
  [['--for', 'rails'], '`--for` is "rails"; it takes node, next, hono, bun, workers.'],
  [['a', 'b', '--for', 'node'], '`signalbox init` takes one folder; "b" is a second one.'],
  [['--to', 'node'], '--to'],
])('%j is refused before anything is written', async (args, message) => {
  const folder = newFolder()
  mkdirSync(join(folder, 'empty'))
  await expect(init(join(folder, 'empty'), ...args)).rejects.toThrow(message)
  expect(existsSync(join(folder, 'empty/package.json'))).toBe(false)
})

test('in a terminal the kind of app is asked for', async () => {
  const cwd = newFolder()
  await runInit([], { cwd, spec: 'signalbox', print: () => {}, ask: async labels => (labels.hono === 'Hono, on Node' ? 'hono' : 'node') })
  expect(read(cwd, 'server.ts')).toContain('new Hono()')
})
