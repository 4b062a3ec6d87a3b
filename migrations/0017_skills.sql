-- Skills: classes of tools. A taxonomy that administrators edit; which tools are in which; what a skill's vector is made of; and what waits for a review.
CREATE TABLE skills (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE COLLATE NOCASE,
  description TEXT NOT NULL,
  examples TEXT NOT NULL,
  is_seeded INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

INSERT INTO skills (id, name, description, examples, is_seeded, revision, created_at, updated_at) VALUES
  ('api_integration', 'API Integration',
   'Reach an outside service over its API: send requests, read endpoints, work with connected accounts and webhooks.',
   '["call a REST endpoint", "run a GraphQL query", "register a webhook", "get the details of a record from a service"]', 1, 1, 0, 0),
  ('development_tools', 'Development Tools',
   'Help to write and build software: documentation of libraries, packages, components, builds, tests, debugging.',
   '["get the documentation of a library", "run the test suite", "compile the project", "explain an error in code"]', 1, 1, 0, 0),
  ('code_management', 'Code Management',
   'Keep source code: repositories, branches, commits, files in a repository, pull requests and reviews.',
   '["create a pull request", "list the commits of a branch", "push files to a repository", "fork a repository"]', 1, 1, 0, 0),
  ('issue_tracking', 'Issue Tracking',
   'Work on issues, tickets and bug reports: open, search, comment, assign, label, close.',
   '["create an issue", "add a comment to a ticket", "search open bugs", "change the assignee of an issue"]', 1, 1, 0, 0),
  ('project_management', 'Project Management',
   'Plan and follow work: projects, tasks, boards, sprints, milestones, teams.',
   '["create a task in a project", "list the boards of a workspace", "move a card to another list", "get the current sprint"]', 1, 1, 0, 0),
  ('database_operations', 'Database Operations',
   'Work with databases: run SQL, read schemas and tables, insert and update records, manage collections.',
   '["run a SQL query", "list the tables of a database", "insert documents into a collection", "describe a schema"]', 1, 1, 0, 0),
  ('data_analysis', 'Data Analysis & Processing',
   'Compute with data: statistics, charts, transformations, calculations, datasets.',
   '["calculate statistics of a dataset", "draw a chart", "convert data to another format", "evaluate an expression"]', 1, 1, 0, 0),
  ('daily_productivity', 'Daily Productivity',
   'Everyday work: notes, reminders, lists, documents, spreadsheets, small conversions.',
   '["add a note", "create a to-do item", "read a spreadsheet", "set a reminder"]', 1, 1, 0, 0),
  ('web_search', 'Web Search & Research',
   'Find information: search the web, papers and encyclopedias, and read what was found.',
   '["search the web", "find research papers on a subject", "look up an article", "fetch the content of a page"]', 1, 1, 0, 0),
  ('browser_automation', 'Browser Automation',
   'Drive a web browser: open pages, click, type, take screenshots, scrape content.',
   '["navigate to a URL", "click an element", "take a screenshot of the page", "fill in a form"]', 1, 1, 0, 0),
  ('operating_system', 'Operating System',
   'Act on a computer: run commands, processes, windows, devices, system information.',
   '["run a shell command", "list running processes", "get the disk usage", "press a key"]', 1, 1, 0, 0),
  ('file_management', 'File Management',
   'Read and write files and folders: open, edit, move, search, convert, upload.',
   '["read a file", "list a directory", "move a file", "convert a document to PDF"]', 1, 1, 0, 0),
  ('cloud_services', 'Cloud Services',
   'Run things in a cloud: servers, containers, storage buckets, functions, deployments.',
   '["deploy a service", "list the instances of a region", "upload an object to a bucket", "get the logs of a container"]', 1, 1, 0, 0),
  ('security', 'Security & Authentication',
   'Protect and inspect: scans, vulnerabilities, threats, credentials, access, encryption.',
   '["scan a host for vulnerabilities", "check the reputation of an IP address", "rotate a key", "log in a user"]', 1, 1, 0, 0),
  ('communication', 'Communication Tools',
   'Reach people: e-mail, chat, channels, calls, notifications.',
   '["send an e-mail", "post a message to a channel", "list the messages of a conversation", "reply to a thread"]', 1, 1, 0, 0),
  ('social_media', 'Social Media',
   'Use social networks: posts, profiles, followers, comments, videos.',
   '["publish a post", "get the profile of a user", "list trending topics", "read comments on a video"]', 1, 1, 0, 0),
  ('content_creation', 'Content Creation',
   'Make content: images, video, audio, texts, slides, designs.',
   '["generate an image", "write a blog post", "create a presentation", "turn text into speech"]', 1, 1, 0, 0),
  ('ai_ml', 'AI/ML Tools',
   'Use and run models: language models, agents, prompts, embeddings, training, reasoning aids.',
   '["ask a language model", "create an embedding", "list the available models", "think through a problem step by step"]', 1, 1, 0, 0),
  ('memory', 'Memory Management',
   'Remember for later: knowledge graphs, facts, contexts and conversations that are stored and recalled.',
   '["store a memory", "search the knowledge graph", "add an observation to an entity", "recall what was said before"]', 1, 1, 0, 0),
  ('finance', 'Financial Services',
   'Money and markets: stocks, prices, payments, invoices, accounts, companies.',
   '["get a stock quote", "create an invoice", "list the transactions of an account", "get the balance sheet of a company"]', 1, 1, 0, 0),
  ('blockchain', 'Cryptocurrency & Blockchain',
   'Coins, tokens and chains: balances, transactions, contracts, wallets, prices of coins.',
   '["get the balance of a wallet", "send a transaction", "read a smart contract", "get the price of a coin"]', 1, 1, 0, 0),
  ('ecommerce', 'E-commerce',
   'Sell and buy: products, orders, carts, customers, shops, reviews.',
   '["search products", "create an order", "update the stock of a product", "list the customers of a shop"]', 1, 1, 0, 0),
  ('education', 'Education',
   'Learn and teach: courses, lessons, quizzes, exercises, students.',
   '["list the courses", "create a quiz", "get an assignment", "explain a term"]', 1, 1, 0, 0),
  ('gaming', 'Gaming',
   'Play and build games: players, matches, characters, levels, game engines.',
   '["get the statistics of a player", "roll dice", "spawn an object in the scene", "make a move"]', 1, 1, 0, 0),
  ('health_fitness', 'Health & Fitness',
   'Health: medicine, trials, nutrition, training, sleep.',
   '["find clinical trials", "log a workout", "get the nutrition of a food", "look up a drug"]', 1, 1, 0, 0),
  ('news_media', 'News & Media',
   'News, films, music, podcasts and other media.',
   '["get the latest headlines", "search films", "play a song", "find articles of a newspaper"]', 1, 1, 0, 0),
  ('travel_maps', 'Travel & Maps',
   'Places and ways: maps, routes, geocoding, flights, hotels, transit.',
   '["find a route", "geocode an address", "search flights", "find restaurants near a place"]', 1, 1, 0, 0),
  ('weather', 'Weather',
   'Weather now and to come: forecasts, alerts, climate, air quality.',
   '["get the forecast of a city", "list weather alerts", "get the current temperature", "get historical weather"]', 1, 1, 0, 0),
  ('time_calendar', 'Time & Calendar',
   'Time and appointments: clocks, time zones, dates, calendars, events, availability.',
   '["get the current time", "convert between time zones", "create a calendar event", "find free time"]', 1, 1, 0, 0);

-- Counts the edits of the taxonomy, so that whoever classified by an older one sees it.
CREATE TABLE taxonomy (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL
) STRICT;

INSERT INTO taxonomy (id, revision) VALUES (1, 1);

-- Counts the writes of a server's rows in `tool_skills`; not an edit of the server.
ALTER TABLE servers ADD COLUMN skills_revision INTEGER NOT NULL DEFAULT 0;

CREATE TABLE tool_skills (
  server_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  skills TEXT NOT NULL,
  is_classified INTEGER NOT NULL,
  reason TEXT,
  source TEXT NOT NULL CHECK (source IN ('embedded', 'llm', 'hand', 'none')),
  made_for TEXT NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (server_id, tool)
) STRICT;

CREATE TABLE skill_members (
  skill_id TEXT NOT NULL,
  server_id TEXT NOT NULL,
  members INTEGER NOT NULL,
  total BLOB NOT NULL,
  hand_members INTEGER NOT NULL,
  hand_total BLOB NOT NULL,
  changed_at INTEGER NOT NULL,
  PRIMARY KEY (skill_id, server_id)
) STRICT;

CREATE INDEX skill_members_server ON skill_members (server_id);

CREATE TABLE skill_suggestions (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'merged', 'rejected')),
  skill_id TEXT,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE INDEX skill_suggestions_created ON skill_suggestions (created_at DESC, id);

CREATE TABLE suggested_tools (
  suggestion_id TEXT NOT NULL,
  server_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  PRIMARY KEY (suggestion_id, server_id, tool)
) STRICT;

CREATE TABLE skill_answers (
  question TEXT PRIMARY KEY,
  answer TEXT NOT NULL,
  asked_at INTEGER NOT NULL
) STRICT;

CREATE INDEX skill_answers_asked ON skill_answers (asked_at);

-- What a language model was used for, by day of UTC.
CREATE TABLE llm_usage (
  day TEXT NOT NULL,
  purpose TEXT NOT NULL,
  calls INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  PRIMARY KEY (day, purpose)
) STRICT;

CREATE TRIGGER skills_inserted AFTER INSERT ON skills
BEGIN
  UPDATE taxonomy SET revision = revision + 1;
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER skills_updated AFTER UPDATE ON skills
BEGIN
  UPDATE taxonomy SET revision = revision + 1;
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER skills_deleted AFTER DELETE ON skills
BEGIN
  UPDATE taxonomy SET revision = revision + 1;
  UPDATE registry_revision SET revision = revision + 1;
END;

CREATE TRIGGER skills_of_deleted AFTER DELETE ON servers
BEGIN
  DELETE FROM tool_skills WHERE server_id = OLD.id;
  DELETE FROM skill_members WHERE server_id = OLD.id;
  DELETE FROM suggested_tools WHERE server_id = OLD.id;
END;
