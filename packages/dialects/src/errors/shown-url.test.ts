import { expect, test } from 'vitest'
import { shownUrl } from './shown-url.ts'

test.each([
  ['https://mirror.example/api.json', 'https://mirror.example/api.json'],
  ['https://me:pa55@mirror.example:8443/api.json', 'https://…@mirror.example:8443/api.json'],
  ['https://pa55@mirror.example/', 'https://…@mirror.example/'],
  ['https://mirror.example/api.json?key=pa55', 'https://mirror.example/api.json?…'],
  ['https://mirror.example/#pa55', 'https://mirror.example/?…'],
  ['htps//me:pa55@mirror.example/api.json?key=pa55', 'htps//…@mirror.example/api.json?…'],
  ['https://me:pa/55@mirror.example/', 'https://…@mirror.example/'],
  ['https://me:p?pa55@mirror.example/', 'https://…@mirror.example/'],
  ['no address', 'no address'],
])('%s is shown as %s', (address, shown) => {
  expect(shownUrl(address)).toBe(shown)
})
