// Opens reports in Chromium and says, as JSON, what it found. node drive.mjs FOLDER JOBS.json
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [folder, jobs] = process.argv.slice(2);
const require = createRequire(path.join(path.resolve(folder), 'x.js'));
const puppeteer = (await import(pathToFileURL(require.resolve('puppeteer-core')))).default;
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const { chromium, sandbox, pages } = JSON.parse(readFileSync(jobs, 'utf8'));
const browser = await puppeteer.launch({ executablePath: chromium, args: sandbox ? [] : ['--no-sandbox'], headless: true, protocolTimeout: 240000 });
const found = { troubles: [], overflows: [], violations: [], rendered: {}, seconds: {}, steps: {} };

async function opened(file, { width = 1280, scheme = 'light', hash = '' } = {}) {
  const page = await browser.newPage();
  page.setDefaultTimeout(120000);
  await page.setBypassCSP(true); // for axe alone
  page.on('pageerror', (error) => found.troubles.push(`${file}${hash}: ${error.message}`));
  page.on('console', (message) => message.type() === 'error' && found.troubles.push(`${file}${hash}: ${message.text()}`));
  page.on('request', (request) => request.url().startsWith('file:') || found.troubles.push(`asked for ${request.url()}`));
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.setViewport({ width, height: 900, isMobile: width < 600, hasTouch: width < 600 });
  await page.goto(pathToFileURL(file) + hash);
  return page;
}

async function looked(file, hash, width, scheme, brief) {
  const page = await opened(file, { width, scheme, hash });
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (over > 0) found.overflows.push([file, hash, width, over]);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const each of violations) found.violations.push([file, hash, width, scheme, each.id, each.nodes[0].html]);
  if (width === 1280 && scheme === 'light' && !brief) found.rendered[`${path.basename(file)} ${hash} ${width}`] = await page.content();
  await page.close();
}

const seen = (page) => page.evaluate(() => ({
  title: document.querySelector('main h1:not([hidden] *)').textContent,
  rows: document.querySelectorAll('#home:not([hidden]) tbody tr:not([hidden]):not(.group)').length,
  focus: document.activeElement.tagName,
  scroll: scrollY,
}));

async function driven(file) {
  const page = await opened(file);
  await page.browser().defaultBrowserContext().overridePermissions('file://', ['clipboard-read', 'clipboard-write']);
  const steps = found.steps;
  steps.opened = await seen(page);
  await page.click('input[value=judged]');
  steps.all = await seen(page);
  await page.type('input[type=search]', 'tool-2');
  steps.searched = await seen(page);
  await page.click('input[value=broken]');
  steps.narrowed = await seen(page);
  await page.click('tbody td a.f');
  steps.clause = await seen(page);
  await page.click('.cases a');
  steps.run = await seen(page);
  steps.hit = await page.evaluate(() => document.querySelector('.hit')?.textContent);
  await page.click('.show');
  steps.shown = await page.evaluate(() => document.activeElement.className);
  await page.click('.again button');
  await page.waitForFunction(() => document.querySelector('.again button').textContent === 'Copied');
  await page.bringToFront();
  steps.copied = await page.evaluate(() => navigator.clipboard.readText());
  await page.goBack();
  steps.back = await seen(page);
  await page.goBack();
  steps.home = await seen(page);
  await page.keyboard.press('Tab');
  steps.tabbed = await page.evaluate(() => document.activeElement !== document.body);
  await page.click('input[type=search]', { count: 3 });
  await page.keyboard.press('Backspace');
  await page.click('input[value=case]');
  await page.click('tbody td a');
  steps.case = await seen(page);
  await page.emulateMediaType('print');
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  steps.printed = await page.evaluate(() => [...document.querySelectorAll('#view details')].every((each) => each.open));
  await page.close();
}

/** The same with nothing but keys: what is meant is reached by Tab, and Enter does it. */
async function keyed(file) {
  const page = await opened(file);
  const reach = async (selector) => {
    for (let pressed = 0; pressed < 40; pressed += 1) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement.matches(wanted), selector)) {
        await page.keyboard.press('Enter');
        return (await seen(page)).title;
      }
    }
    return `${selector} is not reached`;
  };
  found.keys = { skip: await reach('.skip') };
  found.keys.clause = await reach('tbody td a.f');
  found.keys.run = await reach('.cases a');
  await reach('.show');
  found.keys.shown = await page.evaluate(() => document.activeElement.className);
  await page.goBack();
  found.keys.back = (await seen(page)).title;
  found.keys.pages = (await page.pdf()).length;
  await page.close();
}

/** Seconds of the processor that opening takes: a busy machine is no fault of the page. */
async function timed(file) {
  const page = await browser.newPage();
  const session = await page.createCDPSession();
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(pathToFileURL(file));
  const { metrics } = await session.send('Performance.getMetrics');
  found.columns = await page.evaluate(() => [...document.querySelectorAll('thead th')].map((each) => [each.textContent, each.title]));
  found.seconds[path.basename(file)] = metrics.find((each) => each.name === 'TaskDuration').value;
  await page.close();
}

for (const { file, hashes, drive, time, brief } of pages) {
  if (drive) await driven(file);
  if (drive) await keyed(file);
  for (const hash of hashes) {
    for (const width of [1280, 390]) for (const scheme of brief ? ['light'] : ['light', 'dark']) await looked(file, hash, width, scheme, brief);
  }
  if (time) await timed(file);
}
await browser.close();
process.stdout.write(JSON.stringify(found));
