import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const executablePath = places.find(existsSync)

/** Whether a real browser is installed. `playwright-core` brings none. */
export const hasBrowser = executablePath !== undefined

const flags = [
  'no-sandbox',
  'disable-gpu',
  'disable-quic',
  'no-first-run',
  'disable-background-networking',
  'disable-component-update',
  'disable-sync',
]

/** Starts Chromium with a new profile, which is removed when it is closed. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ ...(executablePath && { executablePath }), headless: true, args: flags.map(flag => `--${flag}`) })
