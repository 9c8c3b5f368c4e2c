import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ChaosProvider, chaosProvider, defaultText } from '@signalbox/testing'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answering } from '../packages/testing/src/chaos/acts.ts'
import { freePort } from '../packages/testing/tools/runtimes/free-port.ts'
import { makeTarballs, type Tarballs } from '../packages/testing/tools/runtimes/tarballs.ts'
import { haltedAnswer } from './tools/answers.ts'
import { hasBrowser, startBrowser } from './tools/browser.ts'
import { type Running, run } from './tools/processes.ts'

// The app is copied to a folder of its own, installed from tarballs, built, started, and used in Chromium. OpenAI is a server on
// 127.0.0.1 that speaks its protocol.

const source = join(import.meta.dirname, 'next-app')

if (hasBrowser)
  describe('next-app', { timeout: 900_000 }, () => {
    let folder: string
    let tarballs: Tarballs
    let provider: ChaosProvider
    let browser: Browser
    let app: Running
    let env: Record<string, string>
    let origin: string

    /** Runs a command of the app to its end. */
    const runToEnd = async (program: string, ...args: string[]): Promise<void> => {
      const command = run({ program, args, folder }, env)
      expect([await command.ended, command.output()]).toEqual([0, expect.any(String)])
    }
    const next = (): string => join(folder, 'node_modules/next/dist/bin/next')
    const start = async (): Promise<Running> => {
      const { port } = new URL(origin)
      const started = run({ program: process.execPath, args: [next(), 'start', '-p', port, '-H', '127.0.0.1'], folder }, env)
      await started.until(/Ready in/)
      return started
    }

    beforeAll(async () => {
      folder = realpathSync(mkdtempSync(join(tmpdir(), 'signalbox-next-app-')))
      ;[tarballs, provider, browser] = await Promise.all([makeTarballs(join(folder, 'tarballs')), chaosProvider(), startBrowser()])
      cpSync(source, folder, { recursive: true })
      origin = `http://127.0.0.1:${await freePort()}`
      env = {
        ...tarballs.env(folder),
        NEXT_TELEMETRY_DISABLED: '1',
        SESSION_SECRET: 'a secret of 32 characters or more',
        OPENAI_API_KEY: 'sk-example',
        OPENAI_BASE_URL: provider.url,
      }
      await runToEnd('npm', 'install', '--no-fund')
      await runToEnd(process.execPath, next(), 'build')
      app = await start()
    }, 900_000)
    afterAll(async () => {
      await app?.stop()
      await Promise.all([browser?.close(), provider?.close()])
      tarballs?.close()
      rmSync(folder, { recursive: true, force: true })
    }, 60_000)

    const signIn = async (user: string): Promise<Page> => {
      const page = await (await browser.newContext()).newPage()
      await page.goto(origin)
      await page.fill('[name=user]', user)
      await page.click('text=Sign in')
      await page.getByText(`Signed in as ${user}.`).waitFor()
      return page
    }
    const send = async (page: Page, text: string): Promise<void> => {
      await page.fill('[name=text]', text)
      await page.click('text=Send')
    }
    const answers = (page: Page): Promise<string[]> => page.locator('[data-role=assistant]').allTextContents()
    /** The API below /api/llm, as a script of the page calls it. */
    const callApi = (page: Page): Promise<{ status: number; code?: string }> =>
      page.evaluate(async () => {
        const body = JSON.stringify({ model: 'assistant', input: 'Hello' })
        const response = await fetch('/api/llm/v1/responses', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        return { status: response.status, code: (await response.json()).error?.code }
      })

    test('an answer streams to the user who is signed in, and says what it has cost', async () => {
      const page = await signIn('ada')
      const halted = haltedAnswer()
      provider.next(halted.respond)
      await send(page, 'Tell me about trains.')
      await page.getByText(/^Signals were set by hand/).waitFor()
      const [begun = ''] = await answers(page)
      expect([defaultText.startsWith(begun), begun === defaultText]).toEqual([true, false])
      halted.finish()
      await page.getByText(defaultText, { exact: true }).waitFor()
      // 12 tokens in, and each word a token out.
      const cost = 12 + 5 * defaultText.split(' ').length
      await page.getByText(`Used today: $${cost / 1_000_000} of $0.01`).waitFor()
      expect(provider.requests.at(-1)?.json).toMatchObject({ model: 'gpt-6.1-terra', stream: true, max_output_tokens: 500 })
    })

    test('a user who has used the budget up is told so; another user, and the same one after a restart, find their own', async () => {
      const page = await signIn('grace')
      // 2,100 microdollars each: the fifth might pass 10,000.
      provider.always(answering({ text: 'Choo.', usage: { input: 100, output: 400 } }))
      for (let count = 1; count <= 4; count++) {
        await send(page, 'Again')
        await expect.poll(() => answers(page)).toHaveLength(count)
        await page.getByText(`Used today: $${(count * 21) / 10_000} of`).waitFor()
      }
      await send(page, 'Again')
      const alert = page.getByRole('alert').filter({ hasText: 'budget' })
      await alert.waitFor()
      expect(await alert.textContent()).toBe('Your budget for today is used up. It is full again at midnight.')
      expect(await callApi(page)).toEqual({ status: 402, code: 'budget_exceeded' })

      const other = await signIn('alan')
      await send(other, 'Hello')
      await expect.poll(() => answers(other)).toEqual(['Choo.'])
      expect(await callApi(other)).toMatchObject({ status: 200 })

      await app.stop()
      app = await start()
      await page.reload()
      await page.getByText('Used today: $0.0084 of').waitFor()
      expect(await callApi(page)).toMatchObject({ status: 402 })
    })

    test('only the cookie of the sign-in tells who it is', async () => {
      const page = await signIn('eve')
      const context = page.context()
      const [cookie] = await context.cookies()
      expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'Lax' })
      expect(await page.evaluate(() => document.cookie)).toBe('')
      const [payload = '', signature] = cookie?.value.split('.') ?? []
      const forged = Buffer.from(Buffer.from(payload, 'base64url').toString().replace('eve', 'ada')).toString('base64url')
      for (const value of [`${forged}.${signature}`, `${forged}.`, forged, '.', '']) {
        if (cookie) await context.addCookies([{ ...cookie, value }])
        expect([value, (await callApi(page)).status]).toEqual([value, 401])
      }
      await context.clearCookies()
      const chat = await page.evaluate(() => fetch('/api/chat', { method: 'POST', body: '{}' }).then(({ status }) => status))
      expect(chat).toBe(401)
      await page.goto(origin)
      expect(await page.getByText('Sign in').isVisible()).toBe(true)
    })

    test('no secret and nothing of the gateway is in the files that browsers get', () => {
      const files = readdirSync(join(folder, '.next/static'), { recursive: true, withFileTypes: true }).filter(file => file.isFile())
      const texts = files.map(file => readFileSync(join(file.parentPath, file.name), 'utf8'))
      expect(texts.some(text => text.includes('Send'))).toBe(true)
      for (const secret of ['sk-example', env.SESSION_SECRET ?? '', 'createGateway', 'gpt-6.1-terra'])
        expect([secret, texts.some(text => text.includes(secret))]).toEqual([secret, false])
    })
  })
