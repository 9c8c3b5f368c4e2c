import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../tools/runtimes/free-port.ts'
import { askBlock, type BlockAnswers, expectedAnswers, gatewayBlock, startBlock } from '../tools/runtimes/page-blocks.ts'
import { serveFakeProvider } from '../tools/runtimes/provider-server.ts'
import { makeTarballs, type Tarballs } from '../tools/runtimes/tarballs.ts'

// A fresh folder, `npm install signalbox`, and an app of docs/getting-started: from tarballs, by a registry on 127.0.0.1 that has them.

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const modules = join(root, 'node_modules')
const bun = join(modules, 'bun/bin/bun.exe')
const deno = join(modules, 'deno/deno')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-installs-')))
const key = 'ak_for-the-installs-0123456789'
const expected = { ...expectedAnswers, keyId: expect.any(String) }

let tarballs: Tarballs
let provider: Awaited<ReturnType<typeof serveFakeProvider>>

const cleanEnv = (): Record<string, string> => ({ ...tarballs.env(folder), GATEWAY_KEY: key, OPENAI_API_KEY: 'sk-nobody' })

/** An app with the gateway of the pages, and a file that serves it. */
function makeApp(name: string, files: Readonly<Record<string, string>>): string {
  const app = join(folder, name)
  for (const [file, text] of Object.entries({
    'package.json': JSON.stringify({ name, private: true, type: 'module' }),
    'gateway.ts': gatewayBlock(provider.port),
    ...files,
  })) {
    mkdirSync(dirname(join(app, file)), { recursive: true })
    writeFileSync(join(app, file), text)
  }
  writeFileSync(join(app, '.npmrc'), `registry=${tarballs.url}/\n`)
  return app
}

interface Server {
  readonly app: string
  readonly command: readonly [string, ...string[]]
  readonly base: string
  /** Where it is up once it answers with 200. */
  readonly health: string
}

/** Starts a server, sends the first requests of a new user, and ends it. */
async function askOnce({ app, command: [program, ...args], base, health }: Server): Promise<BlockAnswers> {
  const child = spawn(program, args, { cwd: app, env: cleanEnv(), stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    await untilUp(health, child)
    return await askBlock(fetch, key, base)
  } finally {
    const ended = new Promise(done => child.once('exit', done))
    if (child.exitCode === null && child.kill()) await ended
  }
}

async function untilUp(health: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const isUp = await fetch(health).then(
      reply => reply.ok,
      () => false,
    )
    if (isUp) return
    await new Promise(later => setTimeout(later, 100))
  }
  throw new Error(`The server ended with ${child.exitCode}.`)
}

/** A Node of the system that is older than Signalbox needs, if there is one. */
const oldNode = ['/usr/bin/node', '/usr/local/bin/node'].find(
  path => existsSync(path) && Number(/^v(\d+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8' }))?.[1]) < 22,
)

const npm = (...args: readonly string[]): readonly [string, readonly string[]] => ['npm', args]
const pnpm = (...args: readonly string[]): readonly [string, readonly string[]] => ['npx', ['-y', 'pnpm@12', ...args]]

const managers = [
  { name: 'npm', install: npm('install', 'signalbox'), place: 'node', program: [process.execPath, 'server.ts'] },
  { name: 'pnpm', install: pnpm('add', 'signalbox'), place: 'node', program: [process.execPath, 'server.ts'] },
  { name: 'bun', install: [bun, ['add', 'signalbox']], place: 'bun', program: [bun, 'server.ts'] },
  {
    name: 'deno',
    install: [deno, ['add', '--quiet', 'npm:signalbox']],
    place: 'deno',
    program: [deno, 'run', '-A', '--quiet', 'server.ts'],
  },
] as const

describe('installed in a folder of its own', { timeout: 900_000 }, () => {
  beforeAll(async () => {
    tarballs = await makeTarballs(join(folder, 'tarballs'))
    provider = await serveFakeProvider()
  }, 900_000)
  afterAll(() => {
    tarballs?.close()
    provider?.close()
    rmSync(folder, { recursive: true, force: true })
  }, 300_000)

  test.each(managers)(
    'by $name: the app responds whole and streamed, and finds its key after a restart',
    async ({ name, install, place, program }) => {
      const port = await freePort()
      const app = makeApp(name, { 'server.ts': startBlock(place, 'server.ts').replace('8787', String(port)) })
      await run(install[0], [...install[1]], { cwd: app, env: cleanEnv() })
      const base = `http://127.0.0.1:${port}`
      const server: Server = { app, command: [...program], base, health: `${base}/healthz` }
      const first = await askOnce(server)
      expect(first).toEqual(expected)
      expect(await askOnce(server)).toEqual(first)
      for (const driver of ['pg', 'ioredis', '@libsql/client']) expect(existsSync(join(app, 'node_modules', driver))).toBe(false)
    },
  )

  test('the types of each sub-path compile alone, without the optional packages of others', async () => {
    const app = join(folder, 'npm')
    const { exports } = JSON.parse(readFileSync(join(app, 'node_modules/signalbox/package.json'), 'utf8'))
    const paths = Object.keys(exports).filter(path => !path.endsWith('.json'))
    const settings = {
      module: 'nodenext',
      target: 'es2023',
      lib: ['es2023', 'dom', 'dom.iterable', 'esnext.disposable'],
      strict: true,
      noEmit: true,
    }
    const compilerOptions = { ...settings, skipLibCheck: false, types: ['node'], typeRoots: [join(modules, '@types')] }
    for (const path of paths) {
      const name = `types-${path.replaceAll(/\W/g, '') || 'main'}`
      writeFileSync(join(app, `${name}.ts`), `export * from 'signalbox${path.slice(1)}'\n`)
      writeFileSync(join(app, `${name}.json`), JSON.stringify({ compilerOptions, files: [`${name}.ts`] }))
      const compiled = run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', `${name}.json`], { cwd: app })
      expect([
        path,
        await compiled.then(
          () => '',
          ({ stdout }) => stdout,
        ),
      ]).toEqual([path, ''])
    }
  })

  test('the command starts, prints its version, and names the driver that a database needs', async () => {
    const app = join(folder, 'npm')
    const command = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      run(process.execPath, [join(app, 'node_modules/signalbox/dist/bin.js'), ...args], { cwd: app, env: { ...cleanEnv(), ...more } })
    expect((await command(['--version'])).stdout).toBe('0.1.0\n')
    const more = { SIGNALBOX_STORAGE: 'postgres://127.0.0.1:9/none', SIGNALBOX_SEALING_KEY: '0'.repeat(64) }
    await expect(command([], more)).rejects.toMatchObject({
      stderr: expect.stringMatching(/^signalbox: .*`?pg`? is not installed\. Install it/),
    })
    writeFileSync(join(app, 'redis.json'), JSON.stringify({ storage: 'memory:', redis: 'redis://127.0.0.1:9' }))
    await expect(command(['--config', 'redis.json'])).rejects.toMatchObject({
      stderr: expect.stringMatching(/^signalbox: Redis is not available: .*ioredis is not installed\. Install it/),
    })
  })

  test.skipIf(oldNode === undefined)('on an old Node the command and a gateway state the required version', async () => {
    const app = join(folder, 'npm')
    const onOld = (...args: readonly string[]) => run(oldNode ?? '', [...args], { cwd: app, env: cleanEnv() })
    const line = /^signalbox: this is Node \d+\.\d+\.\d+; Signalbox needs Node 22\.19 or newer\.\n$/
    for (const args of [[], ['--version'], ['migrate']])
      await expect(onOld('node_modules/signalbox/dist/bin.js', ...args)).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringMatching(line),
      })
    const program = "import { createGateway } from 'signalbox'\ncreateGateway({})"
    await expect(onOld('--input-type=module', '--eval', program)).rejects.toMatchObject({
      stderr: expect.stringContaining('Signalbox needs Node 22.19 or newer'),
    })
  })

  test.each(['bundler', 'node16', 'nodenext'])(
    'its types check under module resolution %s, strict, libraries checked',
    async resolution => {
      const app = join(folder, 'types')
      if (!existsSync(app)) {
        makeApp('types', {})
        // Types of drivers and frameworks, and those of the platforms, as such apps have them.
        const others = ['@types/node', '@types/pg', 'pg', 'ioredis', '@libsql/client']
        await run('npm', ['install', 'signalbox', ...others], { cwd: app, env: cleanEnv() })
      }
      const { exports } = JSON.parse(readFileSync(join(app, 'node_modules/signalbox/package.json'), 'utf8'))
      // The JSON schema of the config is for editors.
      const entries = Object.keys(exports).filter(entry => !entry.endsWith('.json'))
      const imports = entries.map((entry, at) => `import * as e${at} from 'signalbox${entry.slice(1)}'\nexport { e${at} }\n`)
      const compilerOptions = {
        strict: true,
        noEmit: true,
        module: resolution === 'bundler' ? 'esnext' : resolution,
        moduleResolution: resolution,
        target: 'es2024',
        types: ['node'],
        exactOptionalPropertyTypes: true,
        skipLibCheck: false,
      }
      writeFileSync(join(app, `all-${resolution}.ts`), imports.join(''))
      writeFileSync(join(app, `tsconfig.${resolution}.json`), JSON.stringify({ compilerOptions, files: [`all-${resolution}.ts`] }))
      const compiler = join(modules, 'typescript/bin/tsc')
      const { stdout } = await run(process.execPath, [compiler, '-p', `tsconfig.${resolution}.json`], { cwd: app }).catch(error => error)
      expect(stdout).toBe('')
    },
  )

  test('Next.js builds and serves the route, in Node and on the edge', async () => {
    const edge = `import { createGateway, memoryStorage } from 'signalbox'\n${gatewayBlock(provider.port).split('\n').slice(2).join('\n')}`
      .replace("import { sqliteStorage } from 'signalbox/sqlite'\n", '')
      .replace(/sqliteStorage\(.*?\)/, 'memoryStorage()')
    const app = makeApp('next', {
      'app/api/[...path]/route.ts': startBlock('next', 'app/api/[...path]/route.ts'),
      'app/edge/[...path]/route.ts': `${startBlock('next', 'app/api/[...path]/route.ts').replace('@/gateway', '@/edge-gateway')}\nexport const runtime = 'edge'\n`,
      'edge-gateway.ts': edge,
      'app/layout.tsx':
        'export default function Layout({ children }: { children: React.ReactNode }) {\n  return <html><body>{children}</body></html>\n}\n',
      'app/page.tsx': 'export default function Page() {\n  return <p>An app with a gateway in it.</p>\n}\n',
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          strict: true,
          module: 'esnext',
          moduleResolution: 'bundler',
          target: 'es2023',
          lib: ['dom', 'dom.iterable', 'esnext'],
          jsx: 'preserve',
          noEmit: true,
          esModuleInterop: true,
          isolatedModules: true,
          skipLibCheck: true,
          paths: { '@/*': ['./*'] },
          plugins: [{ name: 'next' }],
        },
        include: ['**/*.ts', '**/*.tsx'],
        exclude: ['node_modules'],
      }),
    })
    await run('npm', ['install', 'signalbox', 'next@16', 'react', 'react-dom', 'typescript@5', '@types/react', '@types/node'], {
      cwd: app,
      env: cleanEnv(),
    })
    const next = join(app, 'node_modules/next/dist/bin/next')
    await run(process.execPath, [next, 'build'], { cwd: app, env: cleanEnv(), maxBuffer: 64e6 })
    expect(existsSync(join(app, '.next'))).toBe(true)
    const port = await freePort()
    const origin = `http://127.0.0.1:${port}`
    const command: Server['command'] = [process.execPath, next, 'start', '-p', String(port), '-H', '127.0.0.1']
    const server = (at: string): Server => ({ app, command, base: `${origin}/${at}`, health: origin })
    const first = await askOnce(server('api'))
    expect(first).toEqual(expected)
    expect(await askOnce(server('api'))).toEqual(first)
    expect(await askOnce(server('edge'))).toEqual(expected)
  })
})
