-- Posts with metadata by key and value, terms and taxonomies, as content management systems keep them.
CREATE TABLE numbers (n INT NOT NULL PRIMARY KEY);
INSERT INTO numbers VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);
INSERT INTO numbers SELECT 10 * a.n + b.n + 10 FROM numbers a, numbers b WHERE 10 * a.n + b.n < 90;
INSERT INTO numbers SELECT 100 * a.n + b.n FROM numbers a, numbers b WHERE a.n BETWEEN 1 AND 4;
CREATE TABLE wp_users (ID BIGINT NOT NULL PRIMARY KEY, user_login VARCHAR(30) NOT NULL, display_name VARCHAR(30) NOT NULL);
INSERT INTO wp_users SELECT n, CONCAT('login', n), CONCAT('Writer ', n) FROM numbers WHERE n BETWEEN 1 AND 25;
CREATE TABLE wp_posts (ID BIGINT NOT NULL PRIMARY KEY, post_author BIGINT NOT NULL, post_date DATETIME NOT NULL, post_title VARCHAR(60) NOT NULL, post_status VARCHAR(10) NOT NULL, post_type VARCHAR(12) NOT NULL, post_parent BIGINT NOT NULL, menu_order INT NOT NULL, comment_count INT NOT NULL, KEY type_status_date (post_type, post_status, post_date, ID), KEY (post_parent), KEY (post_author));
INSERT INTO wp_posts SELECT n, 1 + n * 3 % 25, '2024-01-01' + INTERVAL n * 13 HOUR, CONCAT('Title ', n), ELT(1 + n % 4, 'publish', 'draft', 'private', 'publish'), ELT(1 + n % 5, 'post', 'page', 'product', 'attachment', 'post'), IF(n % 5 = 3, 1 + n DIV 2, 0), n % 7, n * 3 % 20 FROM numbers WHERE n BETWEEN 1 AND 400;
CREATE TABLE wp_postmeta (meta_id BIGINT NOT NULL PRIMARY KEY, post_id BIGINT NOT NULL, meta_key VARCHAR(20) NULL, meta_value VARCHAR(40) NULL, KEY (post_id), KEY (meta_key));
INSERT INTO wp_postmeta SELECT a.n * 4 + b.n, a.n, ELT(1 + b.n, '_price', '_stock', '_thumbnail_id', '_sku'), ELT(1 + b.n, a.n * 7 % 90, a.n % 6, a.n + 3, CONCAT('S', a.n)) FROM numbers a, numbers b WHERE a.n BETWEEN 1 AND 400 AND b.n < 4 AND (a.n + b.n) % 4 > 0;
CREATE TABLE wp_terms (term_id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(30) NOT NULL, slug VARCHAR(30) NOT NULL);
INSERT INTO wp_terms SELECT n, CONCAT('Term ', n), CONCAT('term-', n) FROM numbers WHERE n BETWEEN 1 AND 30;
CREATE TABLE wp_term_taxonomy (term_taxonomy_id BIGINT NOT NULL PRIMARY KEY, term_id BIGINT NOT NULL, taxonomy VARCHAR(16) NOT NULL, parent BIGINT NOT NULL, UNIQUE KEY (term_id, taxonomy));
INSERT INTO wp_term_taxonomy SELECT n, n, ELT(1 + n % 3, 'category', 'post_tag', 'product_cat'), IF(n > 6, n DIV 6, 0) FROM numbers WHERE n BETWEEN 1 AND 30;
CREATE TABLE wp_term_relationships (object_id BIGINT NOT NULL, term_taxonomy_id BIGINT NOT NULL, PRIMARY KEY (object_id, term_taxonomy_id), KEY (term_taxonomy_id));
INSERT INTO wp_term_relationships SELECT a.n, 1 + (a.n + b.n * 11) % 30 FROM numbers a, numbers b WHERE a.n BETWEEN 1 AND 400 AND b.n < 2;
CREATE TABLE wp_options (option_id BIGINT NOT NULL PRIMARY KEY, option_name VARCHAR(30) NOT NULL UNIQUE, option_value VARCHAR(60) NOT NULL, autoload VARCHAR(5) NOT NULL);
INSERT INTO wp_options SELECT n, CONCAT(IF(n % 4, '', '_transient_'), 'option', n), n * 3, IF(n % 3, 'yes', 'no') FROM numbers WHERE n BETWEEN 1 AND 80;
